import type { Limit } from '#lib/platform/throttle/throttle';

const minute = 60;
const hour = 60 * minute;

/** Accounts made from one address (contract: control-plane/throttles). */
export function signUpLimits(address: string): Limit[] {
  return [{ id: `sign-up ${address}`, most: 20, windowSeconds: hour }];
}

/** Links for a new password: for one email address, and requested from one network address. */
export function resetLimits(address: string, email: string): Limit[] {
  return [
    { id: `reset address ${address}`, most: 30, windowSeconds: 15 * minute },
    { id: `reset email ${email}`, most: 5, windowSeconds: hour },
  ];
}

/** Links that verify the address of a signed-in user: one a minute, ten a day. */
export function verificationLimits(userId: string): Limit[] {
  return [
    { id: `verification ${userId}`, most: 1, windowSeconds: minute },
    { id: `verification day ${userId}`, most: 10, windowSeconds: 24 * hour },
  ];
}

/** Links that are opened from one address; a link itself cannot be guessed. */
export function linkLimits(address: string): Limit[] {
  return [{ id: `link ${address}`, most: 60, windowSeconds: 15 * minute }];
}

/** Attempts of a signed-in user to enter the current password. */
export function passwordLimits(userId: string): Limit[] {
  return [{ id: `password ${userId}`, most: 10, windowSeconds: 15 * minute }];
}
