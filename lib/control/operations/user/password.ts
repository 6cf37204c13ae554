import { hash, verify } from '@node-rs/argon2';
import { badInput } from '#lib/control/operations/refusal';

/** Argon2id, 19 MiB, two passes. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

let dummyHash: Promise<string> | null = null;
let commonPasswords: Promise<ReadonlySet<string>> | null = null;

/** The hash of a password, for storage. */
export function hashPassword(text: string): Promise<string> {
  return hash(text, cost);
}

/** Whether it is the password; takes as long for a user without one or an unknown user (null). */
export async function checkPassword(stored: string | null, text: string): Promise<boolean> {
  dummyHash ??= hash('no account has this password', cost);
  const matches = await verify(stored ?? (await dummyHash), text);
  return stored !== null && matches;
}

/**
 * Attackers try common passwords first (contract: control-plane/passwords). The list has 49,000 entries and is
 * loaded when it is first needed.
 * @throws ControlRefused (invalid_body), naming `field`.
 */
export async function refuseCommonPassword(text: string, field: string): Promise<void> {
  commonPasswords ??= readCommonPasswords();
  if (!(await commonPasswords).has(text.toLowerCase())) return;
  throw badInput(field, 'this password is too common; choose another one, such as three random words');
}

async function readCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
