import { Histogram } from '#lib/core/metering/histogram';

/** Fewer calls are not enough for a day or an hour; fewer than `leastOfAll`, not for the whole time. */
const leastCalls = 20;
const leastOfAll = 100;
/** Days of which latency is shown. */
const latencyDays = 7;

/** Shares of calls without a failure below which a component is degraded or down. */
const degradedBelow = 0.95;
const downBelow = 0.5;

/** Counts of a span of time. */
export interface Counted {
  readonly calls: number;
  readonly failed: number;
}

/** Counts of a day. */
export interface CountedDay extends Counted {
  /** Histogram of the time to the first byte, as stored. */
  readonly firstByte: string;
  /** What the gateway itself adds to a call, ms; null: unknown, or a provider. */
  readonly own: Quantiles | null;
}

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
}

export const componentStates = ['operational', 'degraded', 'down', 'maintenance', 'no data'] as const;
export type ComponentState = (typeof componentStates)[number];

export const impacts = ['degraded', 'outage', 'maintenance'] as const;
export type Impact = (typeof impacts)[number];

export interface ComponentFigures {
  readonly state: ComponentState;
  /** Share of calls without a failure in all days, from 0 to 1; null: too few calls. */
  readonly availability: number | null;
  readonly latencyMs: Quantiles | null;
  /** The same for each day. */
  readonly days: readonly (number | null)[];
}

/**
 * How the gateway or a provider has performed. Pure.
 * @param days counts of each day, oldest first; null: none.
 * @param lastHour counts of the last hour.
 * @param open impacts of open incidents.
 */
export function figuresOf(
  days: readonly (CountedDay | null)[],
  lastHour: Counted,
  open: readonly Impact[],
): ComponentFigures {
  const all = sumOf(days);
  const enough = all.calls >= leastOfAll;
  return {
    state: stateOf(enough ? [lastHour, sumOf(days.slice(-2))] : [], open),
    availability: enough ? shareOf(all, leastOfAll) : null,
    latencyMs: enough ? latencyOf(days.slice(-latencyDays)) : null,
    days: days.map((day) => (enough && day ? shareOf(day, leastCalls) : null)),
  };
}

/** Incidents take precedence, then the first span of time with enough calls. */
function stateOf(stretches: readonly Counted[], open: readonly Impact[]): ComponentState {
  if (open.includes('outage')) return 'down';
  const known = stretches.map((one) => shareOf(one, leastCalls)).find((share) => share !== null);
  const measured = known === undefined || known === null ? 'no data' : stateOfShare(known);
  if (measured === 'down') return 'down';
  if (open.includes('maintenance')) return 'maintenance';
  return open.includes('degraded') ? 'degraded' : measured;
}

function stateOfShare(share: number): ComponentState {
  if (share < downBelow) return 'down';
  return share < degradedBelow ? 'degraded' : 'operational';
}

function shareOf({ calls, failed }: Counted, least: number): number | null {
  return calls < least ? null : Math.max(0, calls - failed) / calls;
}

function sumOf(days: readonly (Counted | null)[]): Counted {
  const sum = { calls: 0, failed: 0 };
  for (const day of days) {
    sum.calls += day?.calls ?? 0;
    sum.failed += day?.failed ?? 0;
  }
  return sum;
}

/** For the gateway, of the latest day; for providers, over all of these days. */
function latencyOf(days: readonly (CountedDay | null)[]): Quantiles | null {
  const own = days.findLast((day) => day?.own)?.own;
  if (own) return own;
  const merged = new Histogram();
  for (const day of days) if (day) merged.merge(Histogram.ofNumber(day.firstByte));
  if (merged.total < leastCalls) return null;
  const [p50, p95] = [merged.quantile(0.5), merged.quantile(0.95)];
  return p50 === null || p95 === null ? null : { p50, p95 };
}
