import type { FigureKind } from '#lib/console/show/figure';
import type { Rank } from '#lib/control/operations/usage/rank';
import type { UsageSeries } from '#lib/control/operations/usage/series';
import { parseUsd } from '#lib/core/money';

export type UsagePoint = UsageSeries['before']['points'][number];

/** A metric of the usage charts. */
export interface Metric {
  readonly label: string;
  readonly kind: FigureKind;
  /** The groups with the most of it are shown separately. */
  readonly rank: Rank;
  /** The value to draw; null: no call has one. */
  value(point: UsagePoint): number | null;
}

const tokens = (point: UsagePoint) =>
  point.inputTokens + point.cachedTokens + cacheWrites(point) + point.outputTokens;
const cacheWrites = (point: UsagePoint) => point.cacheWrite5mTokens + point.cacheWrite1hTokens;

/** In the order of the menu; the names are used in URLs. */
export const metrics = {
  spend: {
    label: 'Spend',
    kind: 'money',
    rank: 'cost',
    value: ({ cost }) => Number(parseUsd(cost)) / 1_000_000_000,
  },
  requests: { label: 'Requests', kind: 'count', rank: 'calls', value: ({ calls }) => calls },
  errors: { label: 'Errors', kind: 'count', rank: 'errors', value: ({ errors }) => errors },
  tokens: { label: 'Tokens', kind: 'count', rank: 'tokens', value: tokens },
  'input-tokens': {
    label: 'Input tokens',
    kind: 'count',
    rank: 'tokens',
    value: ({ inputTokens }) => inputTokens,
  },
  'cached-tokens': {
    label: 'Cached input tokens',
    kind: 'count',
    rank: 'tokens',
    value: ({ cachedTokens }) => cachedTokens,
  },
  'cache-writes': { label: 'Cache write tokens', kind: 'count', rank: 'tokens', value: cacheWrites },
  'output-tokens': {
    label: 'Output tokens',
    kind: 'count',
    rank: 'tokens',
    value: ({ outputTokens }) => outputTokens,
  },
  'latency-p50': {
    label: 'Latency, p50',
    kind: 'span',
    rank: 'calls',
    value: ({ latencyMs }) => latencyMs?.p50 ?? null,
  },
  'latency-p95': {
    label: 'Latency, p95',
    kind: 'span',
    rank: 'calls',
    value: ({ latencyMs }) => latencyMs?.p95 ?? null,
  },
  'first-byte-p50': {
    label: 'Time to first byte, p50',
    kind: 'span',
    rank: 'calls',
    value: ({ firstByteMs }) => firstByteMs?.p50 ?? null,
  },
  'first-byte-p95': {
    label: 'Time to first byte, p95',
    kind: 'span',
    rank: 'calls',
    value: ({ firstByteMs }) => firstByteMs?.p95 ?? null,
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof metrics;
export const metricNames = namesOf(metrics);

/** The keys of a record, with their type. */
export function namesOf<Name extends string>(record: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(record) as Name[];
}
