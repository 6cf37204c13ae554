import { createSerializer, parseAsString, parseAsStringLiteral } from 'nuqs/server';
import { type MetricName, metricNames, namesOf } from '#lib/console/usage/metrics';
import { steps } from '#lib/core/charts/buckets';
import { rangeNames } from '#lib/core/charts/ranges';

/** What a chart can be stacked by; `class` means token classes, `none` shows everything as one. */
export const groupings = {
  model: 'Model',
  provider: 'Provider',
  key: 'API key',
  member: 'Member',
  outcome: 'Status',
  family: 'Family',
  class: 'Token class',
  none: 'No grouping',
} as const;
export type Grouping = keyof typeof groupings;

/** Whether a metric can be stacked by it. */
export function fits(metric: MetricName, by: Grouping): boolean {
  return by !== 'class' || metric === 'tokens';
}

/** What the usage page shows, as in its URL. */
export const usageParameters = {
  metric: parseAsStringLiteral(metricNames).withDefault('spend'),
  by: parseAsStringLiteral(namesOf(groupings)).withDefault('model'),
  range: parseAsStringLiteral(rangeNames).withDefault('30d'),
  /** Of a custom range: times in the workspace's zone, or with an offset; `to` is exclusive. */
  from: parseAsString,
  to: parseAsString,
  step: parseAsStringLiteral(steps),
  model: parseAsString,
  provider: parseAsString,
  key: parseAsString,
};

/** The ranges that the overview offers. */
export const overviewRanges = ['24h', '7d', '30d'] as const;

/** `usageAddress('/acme/usage', { metric: 'errors' })`. */
export const usageAddress = createSerializer(usageParameters);

/** A label inside a sentence: "API key" stays, "Model" becomes "model". */
export function inSentence(label: string): string {
  return /^[A-Z]{2}/.test(label) ? label : label.toLowerCase();
}

/** What a choice of groupings calls one: "By API key", "No grouping". */
export function groupingLabel(by: Grouping): string {
  return by === 'none' ? groupings[by] : `By ${inSentence(groupings[by])}`;
}
