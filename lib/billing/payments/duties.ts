import type { Payments } from '#lib/billing/payments/client';
import type { ControlHost } from '#lib/control/run';

/** What this process does for payments by itself. */
export interface PaymentDuties {
  stop(): Promise<void>;
}

/** Where no payments are set up it does nothing, and loads nothing of it. */
export async function openPaymentDuties(
  payments: Payments | null,
  control: Pick<ControlHost, 'db' | 'changed'>,
  report: (error: unknown) => void,
): Promise<PaymentDuties> {
  if (payments === null) return { stop: async () => {} };
  const [{ startAutoTopUps }, { startReconciler }] = await Promise.all([
    import('#lib/billing/auto/sweep'),
    import('#lib/billing/reconcile/hourly'),
  ]);
  const parts = { pool: control.db.pool, payments, changed: () => control.changed(), report };
  const running = [startAutoTopUps(parts), startReconciler(parts)];
  return {
    stop: async () => {
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}
