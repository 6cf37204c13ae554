import { z } from 'zod';
import { isPosted, ownRef } from '#lib/control/operations/credit/own-ref';
import { grantCredit, listPromos } from '#lib/control/operations/credit/promo';
import { create } from '#lib/control/operations/declare';
import { amount, words } from '#lib/control/operations/field/kinds';
import { badInput } from '#lib/control/operations/refusal';
import { formatUsd } from '#lib/core/money';
import { postLine } from '#lib/gateway/ledger/post-line';
import { newRowId } from '#lib/platform/data/row-id';

/** Four billion dollars: with the largest credit on top, it still fits in a BIGINT of nano-dollars. */
const largestNano = 4_000_000_000n * 1_000_000_000n;

const abs = (nano: bigint) => (nano < 0n ? -nano : nano);

/**
 * A negative amount also recalls what gateway processes have leased, so that they stop spending it within
 * 2 s (contract: money/outside-debit); the balance may go below 0.
 */
export const addCredit = create({
  name: 'credit.add',
  summary: 'Posts an amount to the ledger of a workspace by hand; a negative amount is a debit.',
  reach: 'workspace',
  permission: 'gateway:write',
  fields: {
    amount: amount({
      label: 'Amount',
      help: 'Added to the balance; a negative amount is subtracted.',
      example: '25',
    }),
    reason: words({ label: 'Reason', help: 'Shown in the ledger.', example: 'Trial credit' }),
    ref: ownRef,
  },
  output: z.object({
    ref: z.string().describe('The "ref" of its line in the ledger.'),
    balance: z.string().describe('The new balance, dollars as a decimal string.'),
  }),
  http: [{ method: 'POST', path: '/workspaces/{workspace}/credits' }],
  line: { arguments: ['workspace', 'amount'] },
  text: ({ balance }) => `posted; the balance is ${balance} USD`,
  run: async ({ store, scope: { workspaceId } }, { amount: amountNano, reason, ref = newRowId() }) => {
    await store.query('SELECT 1 AS one FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE', [workspaceId]);
    const { balanceNano } = await store.prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } });
    const line = { workspaceId, kind: 'adjustment', ref, amountNano, reason } as const;
    if (await isPosted(store, line)) {
      const state = { amount: formatUsd(amountNano), reason };
      const result = { ref, balance: formatUsd(balanceNano) };
      return { result, subject: ref, before: state, after: state };
    }
    const afterNano = balanceNano + amountNano;
    if (abs(afterNano) > abs(balanceNano) && abs(afterNano) > largestNano) {
      throw badInput(
        'amount',
        `a balance must be between -${formatUsd(largestNano)} and ${formatUsd(largestNano)} dollars`,
      );
    }
    const changes = await postLine({ query: (text, values) => store.execute(text, values) }, line);
    if (changes === null) await isPosted(store, line);
    const balance = formatUsd(afterNano);
    return {
      result: { ref, balance },
      subject: ref,
      before: null,
      after: { amount: formatUsd(amountNano), reason, balance },
      changes: changes ?? [],
    };
  },
});

export const creditOperations = [addCredit, grantCredit, listPromos];
