'use server';

import { ownAction } from '#lib/console/account/own';
import { strangerAction } from '#lib/console/account/stranger';
import { acceptInvitation, joinByInvitation } from '#lib/control/invitation/accept';
import { linkLimits } from '#lib/throttle/limits';

export const acceptAction = ownAction(acceptInvitation);

export const joinAction = strangerAction(joinByInvitation, linkLimits);
