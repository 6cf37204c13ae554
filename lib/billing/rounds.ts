import type { Pool } from 'pg';
import { tellLowBalances } from '#lib/billing/low-balance';
import { expirePromos } from '#lib/billing/promo/expire';

const roundMs = 5_000;

export interface FundRounds {
  /** Waits for what is being done. */
  stop(): Promise<void>;
}

/** Periodic work on funds. Every process runs it; each round takes what no process has done yet. */
export function startFundRounds(pool: Pool, report: (error: unknown) => void): FundRounds {
  let running: Promise<unknown> | null = null;
  const round = () => {
    running ??= Promise.all([expirePromos(pool), tellLowBalances(pool)])
      .catch(report)
      .finally(() => {
        running = null;
      });
  };
  const timer = setInterval(round, roundMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
