'use server';

import { cookies } from 'next/headers';
import { connectSeconds, zoneCookie } from '#lib/console/account/enter-by-other';
import { anonymousAction } from '#lib/console/anonymous-action';
import { normalEmail } from '#lib/control/operations/field/people';
import { createFirstOperator } from '#lib/control/operations/user/first-operator';
import { requestReset, resetPassword } from '#lib/control/operations/user/reset';
import { signUp } from '#lib/control/operations/user/sign-up';
import { verifyAddress } from '#lib/control/operations/user/verify';
import { isTimeZone } from '#lib/core/time-zone';
import { linkLimits, resetLimits, signUpLimits } from '#lib/platform/throttle/limits';

/** For a workspace that is created on the way back from another site. */
export async function rememberZoneAction(zone: unknown): Promise<void> {
  if (typeof zone !== 'string' || !isTimeZone(zone)) return;
  const options = { httpOnly: true, sameSite: 'lax', path: '/api/auth', maxAge: connectSeconds } as const;
  (await cookies()).set(zoneCookie, zone, options);
}

export const signUpAction = anonymousAction(signUp, signUpLimits);

export const firstOperatorAction = anonymousAction(createFirstOperator, linkLimits);

export const requestResetAction = anonymousAction(requestReset, (client, { email }) =>
  resetLimits(client, normalEmail(String(email ?? '')).slice(0, 320)),
);

export const resetAction = anonymousAction(resetPassword, linkLimits);

export const verifyAction = anonymousAction(verifyAddress, linkLimits);
