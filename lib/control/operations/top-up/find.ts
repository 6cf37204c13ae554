import { z } from 'zod';
import type { TopUp } from '#generated/client';
import { nanoOf } from '#lib/control/billing/payments/cents';
import { isUuid } from '#lib/control/operations/field/kinds';
import { inOrderOf, type Order, pageOfIds, timeOrder } from '#lib/control/operations/field/paging';
import { notFound } from '#lib/control/operations/refusal';
import { inScope, type WorkspaceScope, within } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { formatUsd } from '#lib/core/money';

const statuses = ['open', 'paid', 'expired', 'failed', 'refunded', 'canceled'] as const;

/** A top-up as JSON; amounts are decimal strings of dollars. */
export const topUp = z.object({
  id: z.uuid(),
  amount: z.string().describe('Credited amount, dollars.'),
  fee: z.string().describe('Fee charged in addition, dollars.'),
  status: z.enum(statuses),
  failure: z
    .string()
    .nullable()
    .describe('Of an open or failed one: why the latest try to pay failed, as the code of Stripe.'),
  url: z.string().nullable().describe('Page to pay on; null: the top-up is not open.'),
  refunded: z.string().describe('Refunded to the card, including the fee, dollars.'),
  createdAt: z.iso.datetime(),
  paidAt: z.iso.datetime().nullable(),
  test: z.boolean().describe('Whether it is a test payment, which charges no card.'),
  automatic: z.boolean().describe('Whether it was ordered automatically.'),
  receiptUrl: z.string().nullable(),
  invoiceUrl: z.string().nullable(),
});
export type ShownTopUp = z.output<typeof topUp>;

/** @throws ControlRefused (not_found). */
export async function readTopUp(
  store: Store,
  { workspaceId }: WorkspaceScope,
  id: string,
): Promise<ShownTopUp> {
  const found = isUuid(id) ? await store.prisma.topUp.findFirst({ where: { id, workspaceId } }) : null;
  if (!found)
    throw notFound('there is no top-up with this id in the workspace; "gateway top-up list" shows all', 'id');
  return shownTopUp(found);
}

/** What top-ups can be ranked by. */
export const topUpOrders = {
  created: timeOrder('t.created_at'),
  amount: { sql: 't.cents', type: 'bigint' },
  refunded: { sql: 't.refunded_cents', type: 'bigint' },
} as const satisfies Record<string, Order>;

/** A page of the top-ups of a workspace. @throws ControlRefused (invalid_body) for an invalid `after`. */
export async function listTopUpRows(
  store: Store,
  scope: WorkspaceScope,
  page: { readonly sort: string; readonly after: string | undefined; readonly limit: number },
): Promise<{ data: ShownTopUp[]; next: string | null }> {
  const list = { from: 'top_up t', id: 't.id', orders: topUpOrders };
  const where = (values: unknown[]) => [within(scope, 't.workspace_id', values)];
  const { ids, next } = await pageOfIds(store, { ...list, where }, page);
  const rows = await store.prisma.topUp.findMany({ where: { ...inScope(scope), id: { in: ids } } });
  return { data: inOrderOf(ids, rows).map(shownTopUp), next };
}

export function shownTopUp(row: TopUp): ShownTopUp {
  const stored = statuses.find((one) => one === row.status) ?? 'open';
  // A payment that was on its way when it was canceled is credited, and counts.
  const status = row.canceledAt !== null && (stored === 'open' || stored === 'expired') ? 'canceled' : stored;
  return {
    id: row.id,
    amount: formatUsd(nanoOf(row.cents)),
    fee: formatUsd(nanoOf(row.feeCents)),
    status,
    failure: status === 'open' || status === 'failed' ? row.failure : null,
    url: status === 'open' ? row.sessionUrl : null,
    refunded: formatUsd(nanoOf(row.refundedCents)),
    createdAt: row.createdAt.toISOString(),
    paidAt: row.paidAt?.toISOString() ?? null,
    test: !row.livemode,
    automatic: row.auto,
    receiptUrl: row.receiptUrl,
    invoiceUrl: row.invoiceUrl,
  };
}
