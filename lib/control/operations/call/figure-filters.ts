import { type Field, optional } from '#lib/control/operations/field/field';
import { allowance, span as spanField } from '#lib/control/operations/field/kinds';
import { filter } from '#lib/control/operations/field/paging';

/** Filters that few people need are in a group of their own. */
export const more = { title: 'More filters', help: '' };

const longestMs = 24 * 3_600_000;

/**
 * The cost of a call, nano-dollars: its own charge, its job's, and the correction by its stored response. Only a call
 * without a usage report of its own can have the latter two.
 */
export const callCost = `(c.cost_nano + CASE WHEN c.usage_source = 'reported' THEN 0 ELSE
  coalesce((SELECT j.cost_nano FROM job j WHERE j.call_id = c.id), 0)
  + coalesce((SELECT a.amount_nano FROM adjustment a WHERE a.call_id = c.id), 0) END)`;

/** Filters of the log by a number: at least, at most. */
export const figureFilters = {
  minCost: filter({
    field: money('Cost from', 'Calls that cost at least this, dollars.', 'min-cost'),
    parameter: String,
    sql: (nano) => `${callCost} >= ${nano}::bigint`,
  }),
  maxCost: filter({
    field: money('Cost to', 'Calls that cost at most this, dollars.', 'max-cost'),
    parameter: String,
    sql: (nano) => `${callCost} <= ${nano}::bigint`,
  }),
  minLatency: filter({
    field: span(
      'Latency from',
      'Calls that took at least this from the request to the last byte.',
      'min-latency',
    ),
    sql: (ms) => `c.latency_ms >= ${ms}::int`,
  }),
  maxLatency: filter({
    field: span(
      'Latency to',
      'Calls that took at most this from the request to the last byte.',
      'max-latency',
    ),
    sql: (ms) => `c.latency_ms <= ${ms}::int`,
  }),
};

function money(label: string, help: string, flag: string): Field<bigint, false> {
  return optional(allowance({ label, help, flag, group: more, example: '0.01' }));
}

function span(label: string, help: string, flag: string): Field<number, false> {
  const facts = { label, help, flag, unit: 'ms', group: more, example: 2000 };
  return optional(spanField(facts, longestMs));
}
