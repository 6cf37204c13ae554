import { z } from 'zod';
import { keepResult } from '#lib/control/billing/reconcile/hourly';
import { reconcile } from '#lib/control/billing/reconcile/reconcile';
import { create } from '#lib/control/operations/declare';
import { atStripe, paymentsOf } from '#lib/control/operations/top-up/page';
import { formatUsd } from '#lib/core/money';

export const reconcileBilling = create({
  name: 'billing.reconcile',
  summary: 'Posts payments at Stripe that the ledger lacks, each once, and reports remaining differences.',
  reach: 'gateway',
  permission: 'gateway:write',
  output: z.object({
    checked: z.int().describe('Number of events and payments checked.'),
    credited: z.int().describe('How many of them were credited or debited now.'),
    drift: z.string().describe('Remaining difference between ledger and Stripe, dollars.'),
    differences: z
      .array(z.object({ payment: z.string(), due: z.string(), posted: z.string() }))
      .describe('For each payment, what the ledger should have and what it has.'),
    lost: z
      .array(z.object({ workspace: z.string(), spent: z.string(), until: z.iso.datetime().nullable() }))
      .describe(
        'Usage that was reported to Stripe but is missing in this database, which was restored from an older copy; noticed in the last 30 days.',
      ),
  }),
  line: {},
  text: ({ checked, credited, drift, differences, lost }) =>
    [
      `${checked} events and payments checked, ${credited} credited or debited now; drift ${drift} USD`,
      ...differences.map(
        ({ payment, due, posted }) => `${payment}: ${due} USD at Stripe, ${posted} USD in the ledger`,
      ),
      ...lost.map(
        ({ workspace, spent, until }) =>
          `${workspace}: spent ${spent} USD${until ? ` until ${until}` : ''} that is missing in this database; subtract it with "gateway credit add"`,
      ),
    ].join('\n'),
  failed: ({ drift }) => (drift === '0' ? null : 'the ledger differs from Stripe'),
  run: async ({ payments }) => {
    paymentsOf(payments);
    return {
      result: { checked: 0, credited: 0, drift: '0', differences: [], lost: [] },
      subject: 'stripe',
      before: null,
      after: { asked: 'by hand' },
    };
  },
  follow: async ({ pool, payments, nowMs }) => {
    const done = await atStripe(() => reconcile(pool, paymentsOf(payments), nowMs));
    await keepResult(pool, done);
    return {
      checked: done.checked,
      credited: done.credited,
      drift: formatUsd(done.driftNano),
      differences: done.differences.map(({ paymentIntent, dueNano, postedNano }) => ({
        payment: paymentIntent,
        due: formatUsd(dueNano),
        posted: formatUsd(postedNano),
      })),
      lost: done.lost.map(({ workspace, nano, until }) => ({
        workspace,
        spent: formatUsd(nano),
        until: until?.toISOString() ?? null,
      })),
    };
  },
});
