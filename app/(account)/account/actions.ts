'use server';

import { cookies } from 'next/headers';
import { connectCookie, connectProof, connectSeconds } from '#lib/console/account/enter-by-other';
import { ownAction } from '#lib/console/own-account';
import { findUser } from '#lib/console/session';
import { unlinkAccount } from '#lib/control/operations/user/linked';
import { changePassword, renameUser } from '#lib/control/operations/user/profile';
import { endAllSessions, endSession } from '#lib/control/operations/user/sessions';
import { requestVerification } from '#lib/control/operations/user/verify';
import { passwordLimits, verificationLimits } from '#lib/platform/throttle/limits';

export const renameAction = ownAction(renameUser);

export const changePasswordAction = ownAction(changePassword, passwordLimits);

export const endSessionAction = ownAction(endSession);

export const endAllSessionsAction = ownAction(endAllSessions);

export const unlinkAction = ownAction(unlinkAccount);

export const requestVerificationAction = ownAction(requestVerification, verificationLimits);

/** The next account returned by a provider is connected to the current user, not used to sign in. */
export async function startConnectingAction(): Promise<boolean> {
  const user = await findUser();
  if (!user) return false;
  (await cookies()).set(connectCookie, await connectProof(user), {
    httpOnly: true,
    sameSite: 'lax',
    path: '/api/auth',
    maxAge: connectSeconds,
  });
  return true;
}
