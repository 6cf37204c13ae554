import { showSpan } from '#lib/console/show/time';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { showCount, showMoney } from '#lib/core/show-money';

/** A call's figures from the log, as text. */
export interface CallFigures {
  /** "$0.00012"; null: the job still runs and is not charged yet. */
  readonly cost: string | null;
  readonly exactCost: string;
  /** null: nothing was counted in tokens. */
  readonly tokens: { readonly in: string; readonly out: string } | null;
  readonly firstByte: string | null;
  readonly latency: string;
}

export function callFiguresOf(call: CallDetail): CallFigures {
  const { input, cachedInput, cacheWrite5m, cacheWrite1h, output } = call.usage;
  const sent = input + cachedInput + cacheWrite5m + cacheWrite1h;
  const open = call.job !== null && call.job.settledAt === null;
  return {
    cost: open ? null : showMoney(call.cost),
    exactCost: call.cost,
    tokens: sent + output > 0 ? { in: showCount(sent), out: showCount(output) } : null,
    firstByte: call.firstByteMs === null ? null : showSpan(call.firstByteMs),
    latency: showSpan(call.latencyMs),
  };
}
