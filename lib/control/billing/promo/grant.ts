import { postLine } from '#lib/gateway/ledger/post-line';
import type { Change, SqlRunner } from '#lib/platform/data/change';

/** Money that is spent before any other, until it expires. */
interface PromoCredit {
  readonly workspaceId: string;
  /** Granted once for each ref, however often; its expiry has the same ref. */
  readonly ref: string;
  /** Above 0. */
  readonly amountNano: bigint;
  readonly reason: string | null;
  /** null: it never expires, and is only a line of the ledger. */
  readonly expiresAt: Date | null;
}

const lock = 'SELECT 1 FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE';
/** Counts usage up to now against earlier credits. */
const countUse = 'SELECT count_promo_use($1::uuid)';

const insert = `
  INSERT INTO promo (id, workspace_id, ref, amount_nano, left_nano, expires_at)
  VALUES (gen_random_uuid(), $1::uuid, $2, $3::bigint, $3::bigint, $4::timestamptz)`;

/** The next expiry of a workspace, after its credits have changed. */
export const noteNextExpiry = `
  UPDATE workspace w SET promo_ends_at = (
    SELECT min(expires_at) FROM promo WHERE workspace_id = w.id AND ended_at IS NULL)
  WHERE w.id = $1::uuid`;

/**
 * Posts a promo credit (contract: money/promo).
 * @param tx the transaction; it locks the row of the workspace from here on.
 * @returns what must be published as its last statement; null: it was granted before, and nothing was changed.
 * @throws Error of the database.
 */
export async function grantPromo(tx: SqlRunner, credit: PromoCredit): Promise<readonly Change[] | null> {
  const { workspaceId, ref, amountNano, reason, expiresAt } = credit;
  if (expiresAt !== null) {
    await tx.query(lock, [workspaceId]);
    await tx.query(countUse, [workspaceId]);
  }
  const changes = await postLine(tx, { workspaceId, kind: 'promo', ref, amountNano, reason });
  if (changes === null || expiresAt === null) return changes;
  await tx.query(insert, [workspaceId, ref, `${amountNano}`, expiresAt]);
  await tx.query(noteNextExpiry, [workspaceId]);
  return changes;
}
