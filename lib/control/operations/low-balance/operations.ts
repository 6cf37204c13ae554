import { z } from 'zod';
import { fundsNano } from '#lib/control/billing/low-balance';
import { change, read } from '#lib/control/operations/declare';
import { cap } from '#lib/control/operations/field/kinds';
import { notFound } from '#lib/control/operations/refusal';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { formatUsd } from '#lib/core/money';

const path = '/workspaces/{workspace}/low-balance';

const lowBalance = z.object({
  threshold: z.string().nullable().describe('Dollars as a decimal string; null: no mail is sent.'),
  below: z.boolean().describe('Whether balance plus credit are below it now.'),
});
export type LowBalance = z.output<typeof lowBalance>;

export const showLowBalance = read({
  name: 'low-balance.show',
  summary: 'Shows the balance below which members who may pay get a mail.',
  reach: 'workspace',
  permission: 'workspace:read',
  output: lowBalance,
  state: ({ threshold }) => ({ threshold }),
  http: [{ method: 'GET', path }],
  line: { arguments: ['workspace'] },
  run: ({ store, scope }) => readLowBalance(store, scope),
});

export const setLowBalance = change({
  name: 'low-balance.set',
  summary: 'Sets the balance below which members who may pay get a mail, once each time it is crossed.',
  reach: 'workspace',
  permission: 'billing:write',
  fields: {
    threshold: {
      ...cap({
        label: 'Threshold',
        help: 'Of balance plus credit, without what running calls hold.',
        empty: 'No mail',
        example: '10',
      }),
    },
  },
  output: lowBalance,
  http: [{ method: 'PATCH', path }],
  line: { arguments: ['workspace', 'threshold'] },
  text: ({ threshold }) =>
    threshold === null ? 'no mail is sent when the balance is low' : `a mail is sent below ${threshold} USD`,
  run: async ({ store, scope, expect }, { threshold }) => {
    const { workspaceId } = scope;
    await store.query('SELECT 1 AS one FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE', [workspaceId]);
    const before = { threshold: (await readLowBalance(store, scope)).threshold };
    expect(before);
    // Setting it above the current balance does not count as crossing it.
    await store.execute(
      `UPDATE workspace w SET low_balance_nano = $2::bigint,
         low_balance_since = CASE WHEN ${fundsNano} < $2::bigint THEN coalesce(w.low_balance_since, now()) END
       WHERE w.id = $1::uuid`,
      [workspaceId, threshold === null ? null : `${threshold}`],
    );
    const result = await readLowBalance(store, scope);
    const after = { threshold: result.threshold };
    return { result, subject: workspaceId, before, after };
  },
});

async function readLowBalance(store: Store, scope: WorkspaceScope): Promise<LowBalance> {
  const [row] = await store.query<{ threshold: string | null; below: boolean }>(
    `SELECT w.low_balance_nano::text AS threshold, coalesce(${fundsNano} < w.low_balance_nano, false) AS below
     FROM workspace w WHERE w.id = $1::uuid`,
    [scope.workspaceId],
  );
  if (row === undefined) throw notFound('this workspace no longer exists', 'workspace');
  const { threshold, below } = row;
  return { threshold: threshold === null ? null : formatUsd(BigInt(threshold)), below };
}

export const lowBalanceOperations = [showLowBalance, setLowBalance];
