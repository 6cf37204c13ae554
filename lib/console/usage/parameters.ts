import { createSerializer, parseAsString, parseAsStringLiteral } from 'nuqs/server';
import { type MetricName, metricNames, namesOf } from '#lib/console/usage/metrics';
import { steps } from '#lib/core/charts/buckets';
import { rangeNames } from '#lib/core/charts/ranges';

/** What a chart is stacked by; `class` is of tokens, `none` shows everything as one. */
export const groupings = {
  model: 'Model',
  provider: 'Provider',
  key: 'API key',
  outcome: 'Status',
  family: 'Family',
  class: 'Token class',
  none: 'No grouping',
} as const;
export type Grouping = keyof typeof groupings;

/** Whether a metric can be stacked so. */
export function fits(metric: MetricName, by: Grouping): boolean {
  return by !== 'class' || metric === 'tokens';
}

/** What the page of usage shows, as it stands in its address. */
export const usageParameters = {
  metric: parseAsStringLiteral(metricNames).withDefault('spend'),
  by: parseAsStringLiteral(namesOf(groupings)).withDefault('model'),
  range: parseAsStringLiteral(rangeNames).withDefault('30d'),
  /** Of a range of one's own: moments of the workspace's wall clock, or with their offset; `to` is not counted. */
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

/** A label within a sentence: "API key" stays, "Model" becomes "model". */
export function inSentence(label: string): string {
  return /^[A-Z]{2}/.test(label) ? label : label.toLowerCase();
}
