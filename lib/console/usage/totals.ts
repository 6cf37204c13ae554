import { showFigure } from '#lib/console/show/figure';
import { type MetricName, metrics } from '#lib/console/usage/metrics';
import type { UsageSeries } from '#lib/control/operations/usage/series';
import { type Delta, deltaOf } from '#lib/core/delta';
import { showMoney } from '#lib/core/show-money';

type UsageTotal = UsageSeries['total'];

/** A figure of a range, compared with the previous period. */
export interface TotalFigure {
  readonly metric: MetricName;
  readonly name: string;
  readonly value: string;
  /** The exact value; null if `value` is not rounded. */
  readonly exact: string | null;
  readonly delta: Delta | null;
  readonly moreIsWorse: boolean;
  readonly note: string | null;
}

const names: Partial<Record<MetricName, string>> = {
  'first-byte-p50': 'First byte, p50',
  'first-byte-p95': 'First byte, p95',
};

/** The figures above the chart of a range. */
export function totalsOf(
  { total, before }: Pick<UsageSeries, 'total' | 'before'>,
  shown: readonly MetricName[],
): TotalFigure[] {
  return shown.map((metric) => {
    const { kind, label, value } = metrics[metric];
    const now = value(total);
    return {
      metric,
      name: names[metric] ?? label,
      value: showFigure(kind, now),
      exact: metric === 'spend' ? `$${total.cost}` : null,
      delta: deltaOf(now, value(before.total)),
      moreIsWorse: metric === 'errors' || kind === 'span',
      note: metric === 'errors' ? showRate(total) : metric === 'spend' ? showBeside(total) : null,
    };
  });
}

/** What calls by own keys would have cost beside the spend, of which it has only the fee; null without such calls. */
function showOwnList({ ownKeyListPrice }: Pick<UsageTotal, 'ownKeyListPrice'>): string | null {
  return ownKeyListPrice === '0' ? null : `own keys: ${showMoney(ownKeyListPrice)} at list price`;
}

/** What is beside the spend: the list price of own keys, and what the cache saved; null: neither. */
function showBeside(total: Pick<UsageTotal, 'ownKeyListPrice' | 'saved'>): string | null {
  const saved = total.saved === '0' ? null : `cache saved ${showMoney(total.saved)}`;
  return [showOwnList(total), saved].filter((note) => note !== null).join('; ') || null;
}

/** "1.2%"; null without requests. */
function showRate({ errorRate }: Pick<UsageTotal, 'errorRate'>): string | null {
  if (errorRate === null) return null;
  const percent = errorRate * 100;
  return `${percent > 0 && percent < 0.1 ? 'under 0.1' : Number(percent.toFixed(1))}%`;
}
