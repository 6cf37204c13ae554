import { z } from 'zod';
import { postLine } from '#lib/billing/ledger';
import { sqlOf } from '#lib/data/change';
import type { Db } from '#lib/data/db';
import { formatUsd } from '#lib/money';
import { dollars } from '#lib/verbs/inputs';
import { lockWorkspace } from '#lib/verbs/subject';
import { newRowId, parseInput, runVerb, VerbRefused, writeAudit } from '#lib/verbs/verb';

/** Four billion dollars: with the largest credit on top it still fits a BIGINT of nano-dollars. */
const largestNano = 4_000_000_000n * 1_000_000_000n;

const abs = (nano: bigint) => (nano < 0n ? -nano : nano);

const schema = z.strictObject({
  workspace: z.string(),
  /** Dollars; negative to correct. */
  amount: dollars.refine((nano) => nano !== 0n, 'an amount of 0 changes nothing'),
  reason: z.string().trim().min(1, 'a reason is needed: it stands in the ledger').max(500),
});
export type AddCreditInput = z.input<typeof schema>;

/**
 * Posts a ledger line by hand. A negative one also recalls what gateway processes have leased, so that
 * they stop spending it within 2 s (decisions §6); the balance may go below 0.
 * @returns the line's reference (kind "credit") and the new balance in dollars.
 */
export async function addCredit(
  db: Db,
  actor: string,
  input: AddCreditInput,
): Promise<{ ref: string; balance: string }> {
  const { workspace, amount: amountNano, reason } = parseInput(schema, input);
  return runVerb(db, actor, async (tx) => {
    const { id: workspaceId, balanceNano } = await lockWorkspace(tx, workspace);
    if (abs(balanceNano + amountNano) > abs(balanceNano) && abs(balanceNano + amountNano) > largestNano) {
      throw new VerbRefused(`a balance is at most ${formatUsd(largestNano)} dollars, up or down`, 'amount');
    }
    const ref = newRowId();
    const balance = formatUsd(balanceNano + amountNano);
    const detail = { ref, amount: formatUsd(amountNano), reason, balance };
    await writeAudit(tx, actor, { workspaceId, action: 'credit.add', subject: workspaceId, detail });
    // The posting publishes as its last statement, so the audit row stands before it.
    await postLine(sqlOf(tx), { workspaceId, kind: 'credit', ref, amountNano, reason });
    return { result: { ref, balance }, audit: null, changes: [] };
  });
}
