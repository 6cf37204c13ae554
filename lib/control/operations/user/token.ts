import { randomBytes } from 'node:crypto';
import { badInput, type ControlRefused } from '#lib/control/operations/refusal';
import type { SqlRunner } from '#lib/platform/data/change';
import { newRowId } from '#lib/platform/data/row-id';
import { hashKey } from '#lib/platform/secrets';

/** What a link in a mail is for. */
export type TokenPurpose = 'verify' | 'reset';

/** How long a link works, seconds (contract: control-plane/links). */
export const tokenSeconds: Readonly<Record<TokenPurpose, number>> = { verify: 24 * 3600, reset: 3600 };

/** The secret part of a link: 256 random bits in 43 characters. */
const form = /^[\w-]{43}$/;

/**
 * Makes the token of a link; only its hash is stored.
 * @returns the token itself, only for the mail.
 */
export async function mintToken(
  tx: SqlRunner,
  keyPepper: string,
  { userId, purpose }: { readonly userId: string; readonly purpose: TokenPurpose },
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await tx.query(
    `INSERT INTO account_token (id, user_id, purpose, hash, expires_at)
     VALUES ($1::uuid, $2::uuid, $3, $4, now() + make_interval(secs => $5::int))`,
    [newRowId(), userId, purpose, hashKey(token, keyPepper), tokenSeconds[purpose]],
  );
  return token;
}

interface Claiming {
  readonly store: { query<Row>(text: string, values: readonly unknown[]): Promise<Row[]> };
  readonly keyPepper: string;
}

/**
 * Uses a token, in the transaction of what it allows: if that is refused, the token still works.
 * @returns the id of its user.
 * @throws ControlRefused (invalid_body) if it was already used, has expired, has another purpose or is unknown.
 */
export async function claimToken(
  { store, keyPepper }: Claiming,
  purpose: TokenPurpose,
  token: string,
): Promise<string> {
  if (!form.test(token)) throw unusable('unknown');
  const hash = hashKey(token, keyPepper);
  // Locks the user first, like every change of an account: two links of one user run one after another.
  await store.query(
    `SELECT 1 AS one FROM account_token t JOIN "user" u ON u.id = t.user_id
     WHERE t.hash = $1 AND t.purpose = $2 FOR NO KEY UPDATE OF u`,
    [hash, purpose],
  );
  const [claimed] = await store.query<{ user_id: string }>(
    `UPDATE account_token SET used_at = now()
     WHERE hash = $1 AND purpose = $2 AND used_at IS NULL AND expires_at > now() RETURNING user_id::text`,
    [hash, purpose],
  );
  if (claimed) return claimed.user_id;
  const [dead] = await store.query<{ used: boolean }>(
    'SELECT used_at IS NOT NULL AS used FROM account_token WHERE hash = $1 AND purpose = $2',
    [hash, purpose],
  );
  throw unusable(dead === undefined ? 'unknown' : dead.used ? 'used' : 'expired');
}

const reasons = {
  unknown: 'this link is incomplete or not one of ours; open it from the mail again, or request a new one',
  used: 'this link was already used; request a new one if you need it',
  expired: 'this link has expired; request a new one',
} as const;

function unusable(why: keyof typeof reasons): ControlRefused {
  return badInput('token', reasons[why]);
}

/** Ends all links of this purpose that a user still has, and deletes old ones. */
export async function dropTokens(tx: SqlRunner, userId: string, purpose: TokenPurpose | null): Promise<void> {
  await tx.query(
    `UPDATE account_token SET used_at = now()
     WHERE user_id = $1::uuid AND used_at IS NULL AND ($2::text IS NULL OR purpose = $2)`,
    [userId, purpose],
  );
  await tx.query(
    `DELETE FROM account_token WHERE id IN (SELECT id FROM account_token
       WHERE expires_at < now() - interval '7 days' LIMIT 100 FOR UPDATE SKIP LOCKED)`,
    [],
  );
}
