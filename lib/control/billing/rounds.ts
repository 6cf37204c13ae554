import type { Pool } from 'pg';
import { tellLowBalances } from '#lib/control/billing/low-balance';
import { expirePromos } from '#lib/control/billing/promo/expire';
import { type Repeated, repeat } from '#lib/platform/repeat';

const roundMs = 5_000;

/** Periodic work on funds. Every process runs it; each round takes what no process has done yet. */
export function startFundRounds(pool: Pool, report: (error: unknown) => void): Repeated {
  return repeat(roundMs, () => Promise.all([expirePromos(pool), tellLowBalances(pool)]), report);
}
