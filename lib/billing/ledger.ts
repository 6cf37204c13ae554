import type { Change, SqlRunner } from '#lib/data/change';

/** Why money moved. `call` and `job` lines are written by their settlements alone. */
export type LineKind = 'credit' | 'topup' | 'refund' | 'dispute';

/** A posting from outside of the call path: top-up, refund, dispute, correction. */
export interface Posting {
  readonly workspaceId: string;
  readonly kind: LineKind;
  /** What it stands for (a payment intent, a command): one line per kind and ref, however often posted. */
  readonly ref: string;
  /** Below zero takes money; the balance may become negative. */
  readonly amountNano: bigint;
  readonly reason: string | null;
}

/** The line and its effect in one statement: neither can be without the other. */
const post = `
  WITH line AS (
    INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, reason)
    VALUES (gen_random_uuid(), $1::uuid, $2, $3, $4::bigint, $5)
    ON CONFLICT (kind, ref) WHERE kind <> 'call' DO NOTHING RETURNING workspace_id, amount_nano
  )
  UPDATE workspace w SET balance_nano = w.balance_nano + line.amount_nano
  FROM line WHERE w.id = line.workspace_id`;

const recall = `
  UPDATE lease SET recalled_at = coalesce(recalled_at, now()) WHERE kind = $2 AND subject_id = $1::uuid`;

/**
 * Posts a line to the append-only ledger and to the balance. A debit also asks all leases of the workspace
 * back, which happens within 2 s (decisions §6 "Leases").
 * @param tx the transaction; `sqlOf(tx)` for Prisma's.
 * @returns what must be published in the same transaction, as its last statement; null when a line of this
 * kind and ref stands already: then nothing was changed.
 * @throws Error of the database: no such workspace, no connection.
 */
export async function postLine(tx: SqlRunner, posting: Posting): Promise<readonly Change[] | null> {
  const { workspaceId, kind, ref, amountNano, reason } = posting;
  const posted = await tx.query(post, [workspaceId, kind, ref, `${amountNano}`, reason]);
  if (rowsTouched(posted) === 0) return null;
  const changed: Change = { kind: 'workspace', subject: workspaceId };
  return amountNano < 0n ? [changed, await recallLeases(tx, workspaceId)] : [changed];
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
