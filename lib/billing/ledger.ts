import type { Change, SqlRunner } from '#lib/data/change';

/** Why money moved by itself. Lines of `usage` are written by `postUsage` alone. */
export type LineKind = 'top_up' | 'promo' | 'expiry' | 'refund' | 'dispute' | 'adjustment';

/** A posting beside the usage of a quarter: top-up, refund, dispute, correction. */
export interface Posting {
  readonly workspaceId: string;
  readonly kind: LineKind;
  /** What it stands for (a payment intent, a command, a call): one line per kind and ref, however often posted. */
  readonly ref: string;
  /** Below zero takes money; the balance may become negative. */
  readonly amountNano: bigint;
  readonly reason: string | null;
  /** Of a call that is adjusted: its key. */
  readonly keyId?: string;
}

/** The line and its effect in one statement: neither can be without the other. */
const post = `
  WITH line AS (
    INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, reason, key_id)
    VALUES (gen_random_uuid(), $1::uuid, $2, $3, $4::bigint, $5, $6::uuid)
    ON CONFLICT (kind, ref) WHERE kind <> 'usage' DO NOTHING RETURNING workspace_id, amount_nano
  )
  UPDATE workspace w SET balance_nano = w.balance_nano + line.amount_nano
  FROM line WHERE w.id = line.workspace_id`;

const recall = `
  UPDATE lease SET recalled_at = coalesce(recalled_at, now()) WHERE kind = $2 AND subject_id = $1::uuid`;

/**
 * Posts a line to the append-only ledger and to the balance. A debit also asks all leases of the workspace
 * back, which happens within 2 s (contract: money/outside-debit).
 * @param tx the transaction; `sqlOf(tx)` for Prisma's.
 * @returns what must be published in the same transaction, as its last statement; null when a line of this
 * kind and ref stands already: then nothing was changed.
 * @throws Error of the database: no such workspace, no connection.
 */
export async function postLine(tx: SqlRunner, posting: Posting): Promise<readonly Change[] | null> {
  if (!(await insertLine(tx, posting))) return null;
  const { workspaceId, amountNano } = posting;
  const changed: Change = { kind: 'workspace', subject: workspaceId };
  return amountNano < 0n ? [changed, await recallLeases(tx, workspaceId)] : [changed];
}

/**
 * The line and the balance alone, for settlements, which recall leases after their keys are locked.
 * @returns false when a line of this kind and ref stands already.
 * @throws Error of the database.
 */
export async function insertLine(tx: SqlRunner, posting: Posting): Promise<boolean> {
  const { workspaceId, kind, ref, amountNano, reason, keyId = null } = posting;
  const posted = await tx.query(post, [workspaceId, kind, ref, `${amountNano}`, reason, keyId]);
  return rowsTouched(posted) > 0;
}

/**
 * Asks every process for what it has leased of a workspace (or of a key's caps) and not spent: its funds
 * were lowered.
 * @returns what must be published in the same transaction.
 */
export async function recallLeases(
  tx: SqlRunner,
  subjectId: string,
  kind: 'workspace' | 'key' = 'workspace',
): Promise<Change> {
  await tx.query(recall, [subjectId, kind]);
  return { kind: 'lease', subject: `${kind}:${subjectId}` };
}

/** pg answers with a result that counts rows, Prisma's raw statements with the count itself. */
function rowsTouched(result: unknown): number {
  if (typeof result === 'number') return result;
  if (typeof result === 'object' && result !== null && 'rowCount' in result) return Number(result.rowCount);
  throw new TypeError('the transaction tells no row count');
}
