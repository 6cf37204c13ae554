'use server';

import { ownAction } from '#lib/console/own-account';
import { strangerAction } from '#lib/console/stranger';
import { acceptInvitation, joinByInvitation } from '#lib/control/operations/invitation/accept';
import { linkLimits } from '#lib/platform/throttle/limits';

export const acceptAction = ownAction(acceptInvitation);

export const joinAction = strangerAction(joinByInvitation, linkLimits);
