import type { Payments } from '#lib/control/billing/payments/client';
import type { ControlHost } from '#lib/control/operations/run';
import { type Repeated, repeat } from '#lib/platform/repeat';

/** How often it looks for automatic top-ups, for its turn to reconcile, and for pages of deleted workspaces, ms. */
const TOP_UPS_MS = 1_000;
const RECONCILE_MS = 60_000;
const CLOSE_PAGES_MS = 10_000;

/** Periodic work on payments. If none are set up, it does nothing and loads nothing for them. */
export async function openPaymentDuties(
  payments: Payments | null,
  control: Pick<ControlHost, 'db' | 'changed'>,
  report: (error: unknown) => void,
): Promise<Repeated> {
  if (payments === null) return { stop: async () => {} };
  const [{ runAutoTopUps }, { reconcileInTurn }, { closePages }] = await Promise.all([
    import('#lib/control/billing/auto/sweep'),
    import('#lib/control/billing/reconcile/hourly'),
    import('#lib/control/billing/payments/pages/close'),
  ]);
  const parts = { pool: control.db.pool, payments, changed: () => control.changed(), report };
  const running = [
    repeat(TOP_UPS_MS, () => runAutoTopUps(parts), report),
    repeat(RECONCILE_MS, () => reconcileInTurn(parts), report),
    repeat(CLOSE_PAGES_MS, () => closePages(parts.pool, payments), report),
  ];
  return {
    stop: async () => {
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}
