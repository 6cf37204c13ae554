import type { Pool } from 'pg';
import { chargeNext } from '#lib/control/billing/auto/charge';
import { orderNext } from '#lib/control/billing/auto/order';
import type { Payments } from '#lib/control/billing/payments/client';
import { type Repeated, repeat } from '#lib/platform/repeat';

export interface AutoTopUpParts {
  readonly pool: Pool;
  readonly payments: Payments;
  /** Has the gateway processes of this machine read what was just committed. */
  changed(): Promise<void> | void;
  report(error: unknown): void;
  /** Time between looks, ms; default 1,000. */
  readonly everyMs?: number;
}

/** Orders and charges what is due now, one after the other. */
export async function runAutoTopUps({
  pool,
  payments,
  changed,
}: Omit<AutoTopUpParts, 'report'>): Promise<void> {
  while (await orderNext(pool, payments));
  while (await chargeNext(pool, payments, changed));
}

/** Looks for automatic top-ups as long as the process runs; any number of processes may. */
export function startAutoTopUps(parts: AutoTopUpParts): Repeated {
  return repeat(parts.everyMs ?? 1_000, () => runAutoTopUps(parts), parts.report);
}
