import { z } from 'zod';
import { keepResult } from '#lib/control/billing/reconcile/hourly';
import { reconcile } from '#lib/control/billing/reconcile/reconcile';
import { create } from '#lib/control/operations/declare';
import { atStripe, paymentsOf } from '#lib/control/operations/top-up/page';
import { formatUsd } from '#lib/core/money';

export const reconcileBilling = create({
  name: 'billing.reconcile',
  summary: 'Takes from Stripe what the ledger lacks, each payment once, and tells what still differs.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: {},
  output: z.object({
    checked: z.int().meta({ description: 'Events and payments looked at.' }),
    credited: z.int().meta({ description: 'How many of them moved money now.' }),
    drift: z.string().meta({ description: 'What ledger and Stripe still differ by, dollars.' }),
    differences: z
      .array(z.object({ payment: z.string(), due: z.string(), posted: z.string() }))
      .meta({ description: 'Payment by payment: what the ledger must have of it, and what it has.' }),
    lost: z
      .array(z.object({ workspace: z.string(), spent: z.string(), until: z.iso.datetime().nullable() }))
      .meta({
        description:
          'Usage that Stripe was told of and this database, restored from an older copy, has not; noticed in the last 30 days.',
      }),
  }),
  http: [],
  line: {},
  text: ({ checked, credited, drift, differences, lost }) =>
    [
      `${checked} events and payments looked at, ${credited} credited or debited now; drift ${drift} USD`,
      ...differences.map(
        ({ payment, due, posted }) => `${payment}: ${due} USD at Stripe, ${posted} USD in the ledger`,
      ),
      ...lost.map(
        ({ workspace, spent, until }) =>
          `${workspace}: ${spent} USD were spent${until ? ` until ${until}` : ''} that this database has not; "gateway credit add" takes them`,
      ),
    ].join('\n'),
  failed: ({ drift }) => (drift === '0' ? null : 'the ledger differs from what Stripe says'),
  run: async ({ payments }) => {
    paymentsOf(payments);
    return {
      result: { checked: 0, credited: 0, drift: '0', differences: [], lost: [] },
      subject: 'stripe',
      workspaceId: null,
      before: null,
      after: { asked: 'by hand' },
      changes: [],
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
