import { z } from 'zod';
import { listLostUsage } from '#lib/control/billing/reconcile/lost-usage';
import { listQuarantined } from '#lib/control/billing/reconcile/quarantined';
import { read } from '#lib/control/operations/declare';
import { quarantinedPayment } from '#lib/control/operations/top-up/quarantined';
import { formatUsd } from '#lib/core/money';

const found = z.object({
  checked: z.int().describe('Number of events and payments checked.'),
  credited: z.int().describe('How many of them were credited or debited.'),
  drift: z.string().describe('Remaining difference between ledger and Stripe, dollars.'),
});

const state = z.object({
  configured: z.boolean().describe('Whether this process takes card payments.'),
  running: z.boolean().describe('Whether a reconciliation is running.'),
  at: z.iso.datetime().nullable().describe('When the last one ended; null: never.'),
  last: found.nullable(),
  lost: z
    .array(z.object({ workspace: z.string(), spent: z.string(), until: z.iso.datetime().nullable() }))
    .describe(
      'Usage that was reported to Stripe but is missing in this database; noticed in the last 30 days.',
    ),
  quarantined: z
    .array(quarantinedPayment)
    .describe('Payments that do not match an order and were not credited, at most 100.'),
});

export const showBillingState = read({
  name: 'billing.state',
  summary: 'Shows the result of the last reconciliation with Stripe, and payments that were not credited.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: state,
  http: [{ method: 'GET', path: '/billing-state' }],
  line: {},
  failed: ({ last }) => (last === null || last.drift === '0' ? null : 'the ledger differs from Stripe'),
  run: async ({ store, pool, payments }) => {
    const [duty] = await store.query<{ at: Date | null; running: boolean; result: unknown }>(
      `SELECT done_at AS at, coalesce(taken_until > now(), false) AS running, result FROM fleet_duty
       WHERE name = 'reconcile'`,
      [],
    );
    return {
      configured: payments !== null,
      running: duty?.running ?? false,
      at: duty?.at?.toISOString() ?? null,
      last: found.safeParse(duty?.result).data ?? null,
      lost: (await listLostUsage(pool)).map(({ workspace, nano, until }) => ({
        workspace,
        spent: formatUsd(nano),
        until: until?.toISOString() ?? null,
      })),
      quarantined: await listQuarantined(store),
    };
  },
});
