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
  const { startAutoTopUps } = await import('#lib/billing/auto/sweep');
  const { pool } = control.db;
  return startAutoTopUps({ pool, payments, changed: () => control.changed(), report });
}
