import type { Payments } from '#lib/control/billing/payments/client';
import type { ControlHost } from '#lib/control/operations/run';
import { type Repeated, repeat } from '#lib/platform/repeat';

/** How soon after a workspace is deleted its pages close. */
const CLOSE_PAGES_MS = 10_000;

/** What this process does for payments by itself. Where no payments are set up it does nothing, and loads nothing of it. */
export async function openPaymentDuties(
  payments: Payments | null,
  control: Pick<ControlHost, 'db' | 'changed'>,
  report: (error: unknown) => void,
): Promise<Repeated> {
  if (payments === null) return { stop: async () => {} };
  const [{ startAutoTopUps }, { startReconciler }, { closePages }] = await Promise.all([
    import('#lib/control/billing/auto/sweep'),
    import('#lib/control/billing/reconcile/hourly'),
    import('#lib/control/billing/payments/pages/close'),
  ]);
  const parts = { pool: control.db.pool, payments, changed: () => control.changed(), report };
  const running = [
    startAutoTopUps(parts),
    startReconciler(parts),
    repeat(CLOSE_PAGES_MS, () => closePages(parts.pool, payments), report),
  ];
  return {
    stop: async () => {
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}
