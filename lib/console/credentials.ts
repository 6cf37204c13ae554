import { hash, verify } from '@node-rs/argon2';
import type { Db } from '#lib/data/db';

export interface SignedIn {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly sessionVersion: number;
}

let dummyHash: Promise<string> | null = null;

/** E-mail addresses are compared without case and surrounding spaces. */
export function normalEmail(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * The user with this e-mail and password, null for any mismatch. An unknown address costs as much time
 * as a known one: its password is checked against a dummy hash.
 */
export async function findUserByPassword(db: Db, email: string, password: string): Promise<SignedIn | null> {
  // PostgreSQL stores no NUL; asked for one, it would raise.
  const known = normalEmail(email).replaceAll('\0', '\uFFFD');
  const user = await db.prisma.user.findUnique({ where: { email: known } });
  dummyHash ??= hash('no account has this password', { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  const matches = await verify(user?.passwordHash ?? (await dummyHash), password);
  if (!user?.passwordHash || !matches) return null;
  return { id: user.id, email: user.email, name: user.name, sessionVersion: user.sessionVersion };
}
