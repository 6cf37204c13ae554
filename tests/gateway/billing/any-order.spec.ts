import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dueOf } from '#lib/control/billing/reconcile/drift';
import { verifyLedger } from '#lib/control/billing/verify';
import { newRowId } from '#lib/platform/data/row-id';
import { balanceOf, newWorkspace, openShop, type Shop, take } from '#tests/gateway/billing/account';
import { live, type Order, orders, shuffled, truthOf } from '#tests/support/stripe/history';
import type { StripeEvent } from '#tools/sandbox/payments/objects';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** Delivers events, several at a time, until none must come again. */
async function deliver(events: readonly StripeEvent[]): Promise<void> {
  let left = [...events];
  for (let round = 0; left.length > 0 && round < 20; round++) {
    const again: StripeEvent[] = [];
    while (left.length > 0) {
      const some = left.splice(0, 3);
      const handled = await Promise.all(some.map((event) => take(shop, event)));
      again.push(...some.filter((_, at) => handled[at]?.outcome === 'later'));
    }
    left = again;
  }
  expect(left).toEqual([]);
}

/** Lets orders live at Stripe and delivers their events; the workspace then has what Stripe says. */
async function expectAgreed(all: readonly Order[], order: readonly number[]): Promise<void> {
  const { account } = shop.server;
  const { id: workspaceId } = await newWorkspace(shop);
  const customer = account.createCustomer({}).id;
  await shop.db.prisma.payer.create({ data: { workspaceId, livemode: false, customer } });
  const named = all.map((one) => ({ ...one, id: newRowId(), customer }));
  // Automatic ones follow each other; here all are there at once, as after a copy was restored.
  const rows = named.map(({ id, cents, feeCents }) => ({ id, workspaceId, cents, feeCents, customer }));
  await shop.db.prisma.topUp.createMany({ data: rows.map((row) => ({ ...row, livemode: false })) });
  const from = account.events.length;
  const payments = live(account, workspaceId, named);
  await deliver(shuffled(account.events.slice(from), order));
  const due = payments.reduce((sum, payment) => sum + dueOf(truthOf(account, payment)), 0n);
  expect(await balanceOf(shop, workspaceId)).toBe(due);
}

async function expectVerified(): Promise<void> {
  const { checks } = await verifyLedger(shop.db);
  expect(checks.filter(({ rows }) => rows.length > 0)).toEqual([]);
}

describe('the ledger in PostgreSQL (contract: money/payment-events)', () => {
  it('is what Stripe says after random histories whose events come shuffled, twice and at once', async () => {
    const numbers = fc.array(fc.nat(1_000_000), { minLength: 5, maxLength: 40 });
    await fc.assert(fc.asyncProperty(orders, numbers, expectAgreed), { numRuns: 25 });
    await expectVerified();
  });

  it('is what Stripe says, and verified, when nearly all of the largest top-up goes back', async () => {
    const later = [{ what: 'refund', part: 99 }] as const;
    await expectAgreed([{ cents: 1_000_000, feeCents: 999, auto: false, paid: true, later }], [0]);
    await expectVerified();
  });
});
