import type { Pool } from 'pg';
import type { Payments } from '#lib/control/billing/payments/client';
import { withCustomer } from '#lib/control/billing/payments/customer';
import { openCheckout } from '#lib/control/billing/payments/pages/open-page';
import { ControlRefused, notFound } from '#lib/control/operations/refusal';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';

/** @throws ControlRefused (billing_not_configured) if the gateway does not take payments. */
export function paymentsOf(payments: Payments | null): Payments {
  if (payments) return payments;
  throw new ControlRefused(
    'billing_not_configured',
    'payments are not set up; the operator of this gateway has to set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET',
  );
}

/**
 * Creates the page on which an order is paid, unless there is one (contract: money/top-up-order).
 * @throws ControlRefused (billing_unreachable) if Stripe did not create one; the order stays open.
 */
export async function checkoutOf(
  store: Store,
  scope: WorkspaceScope,
  { pool, payments }: { readonly pool: Pool; readonly payments: Payments },
  id: string,
): Promise<void> {
  const where = { id, workspaceId: scope.workspaceId };
  const order = await store.prisma.topUp.findFirst({ where });
  if (!order)
    throw notFound('there is no top-up with this id in the workspace; "gateway top-up list" shows all', 'id');
  if (order.sessionId !== null || order.status !== 'open' || order.canceledAt !== null) return;
  const { slug, workspaceId } = scope;
  const [customer, session] = await atStripe(() =>
    withCustomer(pool, payments, workspaceId, async (payer, replaced) => [
      payer,
      await openCheckout(payments, { ...order, slug, customer: payer, replaced }),
    ]),
  );
  await store.prisma.topUp.updateMany({
    where: { ...where, sessionId: null },
    data: { sessionId: session.id, sessionUrl: session.url, customer },
  });
}

/** @throws ControlRefused (billing_unreachable) if Stripe cannot be reached or refuses; nothing was charged. */
export async function atStripe<R>(work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    const type = error instanceof Error && 'type' in error ? String(error.type) : '';
    if (!type.startsWith('Stripe')) throw error;
    throw new ControlRefused(
      'billing_unreachable',
      'Stripe did not accept this request, and nothing was charged; try again later, and if it still fails, the operator of this gateway should check STRIPE_SECRET_KEY',
    );
  }
}
