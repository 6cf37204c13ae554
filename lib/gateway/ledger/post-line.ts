import type { Change, SqlRunner } from '#lib/platform/data/change';

/** Why money moved, usage apart: only `postUsage` writes lines of `usage`. */
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
  /** Of a test payment, or of a call that the simulated provider answered (contract: money/simulated-money). */
  readonly simulated?: boolean;
}

/**
 * How much of the amount $4 is simulated money, for a posting ($1, $2, $3) of which it may be: what there is of it is
 * taken first. Of a correction it gives back at most what simulated money has paid for such calls; of a refund or a
 * dispute what was not taken from the other funds, which the lines with the same beginning of their ref show.
 */
const simulatedPart = `
  CASE WHEN $4::bigint < 0 THEN greatest($4::bigint, -(SELECT simulated_nano FROM workspace WHERE id = $1::uuid))
    WHEN $2 = 'adjustment' THEN least($4::bigint, greatest(0, (SELECT -coalesce(sum(simulated_nano), 0) FROM ledger_line
      WHERE workspace_id = $1::uuid AND (kind = 'usage' OR (kind = 'adjustment' AND key_id IS NOT NULL)))))
    WHEN $2 = 'top_up' THEN $4::bigint
    ELSE greatest(0, $4::bigint - greatest(0, (SELECT -coalesce(sum(amount_nano - simulated_nano), 0) FROM ledger_line
      WHERE workspace_id = $1::uuid AND kind = $2 AND split_part(ref, ':', 1) = split_part($3, ':', 1)))) END`;

/** The line and its effect in one statement: neither can be without the other. */
const post = (simulated: string) => `
  WITH line AS (
    INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, reason, key_id, simulated_nano)
    SELECT gen_random_uuid(), $1::uuid, $2, $3, $4::bigint, $5, $6::uuid, ${simulated}
    ON CONFLICT (kind, ref) WHERE kind <> 'usage' DO NOTHING RETURNING workspace_id, amount_nano, simulated_nano
  )
  UPDATE workspace w SET balance_nano = w.balance_nano + line.amount_nano,
    simulated_nano = w.simulated_nano + line.simulated_nano
  FROM line WHERE w.id = line.workspace_id`;

const [postReal, postSimulated] = [post('0'), post(simulatedPart)];

/** So that its simulated money, and the lines that it is reckoned from, stay as they are read. */
const lock = 'SELECT 1 FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE';

const recall = `
  UPDATE lease SET recalled_at = coalesce(recalled_at, now()) WHERE kind = $2 AND subject_id = $1::uuid`;

/**
 * Posts a line to the append-only ledger and to the balance. A debit also asks all leases of the workspace
 * back, which happens within 2 s (contract: money/outside-debit).
 * @param tx the transaction; `sqlOf(tx)` for Prisma's.
 * @returns what must be published in the same transaction, as its last statement; null when a line of this
 * kind and ref exists already: then nothing was changed.
 * @throws Error of the database: no such workspace, no connection.
 */
export async function postLine(tx: SqlRunner, posting: Posting): Promise<readonly Change[] | null> {
  if (!(await insertLine(tx, posting))) return null;
  const { workspaceId, amountNano } = posting;
  const changed: Change = { kind: 'workspace', subject: workspaceId };
  return amountNano < 0n ? [changed, await recallLeases(tx, workspaceId)] : [changed];
}

/**
 * Only the line and the balance, for settlements, which recall leases after their keys are locked.
 * @returns false if a line of this kind and ref exists already.
 * @throws Error of the database.
 */
export async function insertLine(tx: SqlRunner, posting: Posting): Promise<boolean> {
  const { workspaceId, kind, ref, amountNano, reason, keyId = null, simulated = false } = posting;
  if (simulated) await tx.query(lock, [workspaceId]);
  const statement = simulated ? postSimulated : postReal;
  const posted = await tx.query(statement, [workspaceId, kind, ref, `${amountNano}`, reason, keyId]);
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
  throw new TypeError('the transaction reports no row count');
}
