import { optional } from '#lib/control/operations/field/field';
import { choice, time } from '#lib/control/operations/field/kinds';
import { filter } from '#lib/control/operations/field/paging';
import { badInput } from '#lib/control/operations/refusal';
import { idFloor } from '#lib/platform/ids';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const spans = { '15m': 15 * minuteMs, '1h': 60 * minuteMs, '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs };
const spanNames = ['15m', '1h', '24h', '7d', '30d'] as const;
type SpanName = (typeof spanNames)[number];

/** A range of time that ends now: an address with it keeps meaning "the last hour". */
export const lastField = optional(
  choice(
    {
      label: 'Time',
      help: 'Only the calls of this last stretch of time; instead of "from".',
      example: '24h',
    },
    spanNames,
  ),
);

/** The longest call plus the time for its settlement. */
const longestCallMs = 65 * minuteMs;

/** For a tail of the log: calls do not end in the order of their ids. */
export const settledAfter = filter({
  field: time({
    label: 'Settled after',
    help: 'Only calls whose charge was posted after this time, including long calls that began before it.',
    example: '2026-11-01T00:00:00Z',
  }),
  parameter: (at) => [idFloor(at.getTime() - longestCallMs), at.toISOString()],
  sql: (edge) => `c.id >= (${edge}::text[])[1]::uuid AND c.settled_at > (${edge}::text[])[2]::timestamptz`,
});

interface Span {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Where a span of the newest calls begins; null if it is not a span. */
export function spanStart(last: unknown, nowMs: number): Date | null {
  const name = spanNames.find((one) => one === last);
  return name ? new Date(nowMs - spans[name]) : null;
}

/** @throws ControlRefused (invalid_body) if the start is given twice. */
export function fromLast<Given extends Span & { readonly last?: SpanName | undefined }>(
  { last, ...given }: Given,
  nowMs: number,
): Omit<Given, 'last'> {
  if (last === undefined) return given;
  if (given.from !== undefined) throw badInput('last', 'use either this or "from", not both');
  return { ...given, from: new Date(nowMs - spans[last]) };
}

/**
 * The span of a search by upstream request id, for which there is no index: at most a day, by default the last
 * one. Other searches keep theirs.
 * @param nowMs ms since the epoch.
 * @throws ControlRefused (invalid_body) for a longer one.
 */
export function searched<Given extends Span & { readonly upstreamRequestId?: string | undefined }>(
  given: Given,
  nowMs: number,
): Given {
  const { from, to, upstreamRequestId } = given;
  if (upstreamRequestId === undefined) return given;
  if (from && to) {
    if (to.getTime() - from.getTime() <= dayMs) return given;
    throw badInput('to', 'a search by upstream request id covers 24 hours; choose a time closer to "from"');
  }
  if (from) return { ...given, to: new Date(from.getTime() + dayMs) };
  return { ...given, from: new Date((to?.getTime() ?? nowMs) - dayMs) };
}
