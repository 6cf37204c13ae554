import { hash, verify } from '@node-rs/argon2';
import { badInput } from '#lib/control/operations/refusal';

/** Argon2id, 19 MiB, two passes. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

let dummyHash: Promise<string> | null = null;
let commonPasswords: Promise<ReadonlySet<string>> | null = null;

/** A password for storage. */
export function hashPassword(text: string): Promise<string> {
  return hash(text, cost);
}

/** Whether it is the password; takes as long for a user who has none, or who is not there (null). */
export async function checkPassword(stored: string | null, text: string): Promise<boolean> {
  dummyHash ??= hash('no account has this password', cost);
  const matches = await verify(stored ?? (await dummyHash), text);
  return stored !== null && matches;
}

/**
 * Common passwords are tried first by whoever guesses (contract: control-plane/passwords). The list has 49,000 and is
 * read when it is first needed.
 * @throws ControlRefused (invalid_body), naming `field`.
 */
export async function refuseCommonPassword(text: string, field: string): Promise<void> {
  commonPasswords ??= readCommonPasswords();
  if (!(await commonPasswords).has(text.toLowerCase())) return;
  throw badInput(field, 'this password is one of the most common ones; take another, three random words do');
}

async function readCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
