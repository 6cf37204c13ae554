import { parseUsd } from '#lib/core/money';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { quarterMs, startOf } from '#lib/gateway/settlement/pure/quarter';
import { settledAfterMs } from '#tools/demo/draw';

/** A line of the demo workspace's ledger. */
export interface DemoLine {
  /** ms since the epoch; for `usage`, the start of its quarter. */
  readonly atMs: number;
  readonly amountNano: bigint;
  /** Only for `usage`: the number of calls that cost something. */
  readonly calls: number | null;
  readonly kind: 'usage' | 'top_up' | 'promo';
  readonly reason: string | null;
}

/** Calls that were settled on one day (UTC), with their lines of the ledger. */
export interface DemoDay {
  readonly calls: readonly CallRecord[];
  readonly lines: readonly DemoLine[];
}

const dayMs = 24 * 3_600_000;
const welcomeNano = parseUsd('25');
const topUpNano = parseUsd('100');
/** A balance below this is topped up. */
const lowNano = parseUsd('12');

export const settledMs = (call: CallRecord) => call.atMs + call.latencyMs + settledAfterMs;

/**
 * The calls by day of settlement, with the postings of each day: a usage line for each quarter of an hour, and top-ups that
 * keep the balance above zero. The first line is a welcome credit at `fromMs`; no line is after `untilMs`.
 */
export function booksOf(calls: readonly CallRecord[], fromMs: number, untilMs: number): readonly DemoDay[] {
  const days = new Map<number, CallRecord[]>();
  for (const call of calls.toSorted((one, other) => settledMs(one) - settledMs(other))) {
    const day = startOf(settledMs(call), dayMs);
    const list = days.get(day);
    if (list) list.push(call);
    else days.set(day, [call]);
  }
  let balanceNano = welcomeNano;
  const welcome: DemoLine = {
    atMs: fromMs,
    amountNano: welcomeNano,
    calls: null,
    kind: 'promo',
    reason: 'Welcome credit',
  };
  return [...days.values()].map((settled, at) => {
    const lines: DemoLine[] = at === 0 ? [welcome] : [];
    for (const usage of quartersOf(settled)) {
      lines.push(usage);
      balanceNano += usage.amountNano;
      if (balanceNano >= lowNano) continue;
      const paidMs = Math.min(usage.atMs + quarterMs - 60_000, untilMs);
      lines.push({ atMs: paidMs, amountNano: topUpNano, calls: null, kind: 'top_up', reason: 'Top-up' });
      balanceNano += topUpNano;
    }
    return { calls: settled, lines };
  });
}

function quartersOf(settled: readonly CallRecord[]): DemoLine[] {
  const sums = new Map<number, { nano: bigint; calls: number }>();
  for (const call of settled) {
    if (call.costNano === 0n) continue;
    const quarter = startOf(settledMs(call), quarterMs);
    const sum = sums.get(quarter) ?? { nano: 0n, calls: 0 };
    sums.set(quarter, { nano: sum.nano + call.costNano, calls: sum.calls + 1 });
  }
  return [...sums].map(([atMs, { nano, calls }]) => ({
    atMs,
    amountNano: -nano,
    calls,
    kind: 'usage',
    reason: null,
  }));
}
