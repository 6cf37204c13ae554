import { z } from 'zod';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { ReadStore } from '#lib/control/operations/store';
import { dollars } from '#lib/control/operations/usage/figures';
import { type Range, wholeDays } from '#lib/control/operations/usage/range';
import { iso } from '#lib/control/operations/usage/series';
import { readUsage, totalOf } from '#lib/control/operations/usage/sums';
import { formatUsd } from '#lib/core/money';
import { postedOfCalls } from '#lib/gateway/ledger/posted';

/** Usage of a range compared with what the ledger posted in it. */
export const usageLedger = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  usage: dollars.describe('Cost of calls that were admitted in the range.'),
  posted: dollars.describe('Charged by the ledger in the range, for calls that ended in it.'),
  difference: dollars.describe(
    'Posted minus usage: calls and jobs that were admitted on one side of an edge and ended on the other.',
  ),
});

/** Lines of calls: charges, and corrections with a key. */
const postedSql = `SELECT ${postedOfCalls('$1::uuid', '$2::timestamptz', '$3::timestamptz')}::text AS nano`;

/**
 * The difference between usage and ledger in a range: usage counts a call at its admission, the ledger at settlement.
 * @param asked whole quarters of an hour, like the ledger's lines.
 */
export async function compareWithLedger(
  store: ReadStore,
  scope: WorkspaceScope,
  asked: Range,
): Promise<z.output<typeof usageLedger>> {
  const range = await wholeDays(store, scope, asked);
  return store.snapshot(async (query) => {
    const { costNano } = totalOf(await readUsage({ query }, scope, { range, durations: false }));
    const values = [scope.workspaceId, new Date(range.fromMs), new Date(range.toMs)];
    const [line] = await query<{ nano: string }>(postedSql, values);
    const postedNano = BigInt(line?.nano ?? 0);
    return {
      ...iso(range),
      usage: formatUsd(costNano),
      posted: formatUsd(postedNano),
      difference: formatUsd(postedNano - costNano),
    };
  });
}
