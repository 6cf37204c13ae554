'use server';

import { anonymousAction } from '#lib/console/anonymous-action';
import { ownAction } from '#lib/console/own-account';
import { acceptInvitation, joinByInvitation } from '#lib/control/operations/invitation/accept';
import { linkLimits } from '#lib/platform/throttle/limits';

export const acceptAction = ownAction(acceptInvitation);

export const joinAction = anonymousAction(joinByInvitation, linkLimits);
