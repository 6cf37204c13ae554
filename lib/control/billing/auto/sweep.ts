import type { Pool } from 'pg';
import { chargeNext } from '#lib/control/billing/auto/charge';
import { orderNext } from '#lib/control/billing/auto/order';
import type { Payments } from '#lib/control/billing/payments/client';

interface AutoTopUpParts {
  readonly pool: Pool;
  readonly payments: Payments;
  /** Makes the gateway processes of this machine read what was just committed. */
  changed(): Promise<void> | void;
}

/** Orders and charges the automatic top-ups that are due, one after the other; any number of processes may. */
export async function runAutoTopUps({ pool, payments, changed }: AutoTopUpParts): Promise<void> {
  while (await orderNext(pool, payments));
  while (await chargeNext(pool, payments, changed));
}
