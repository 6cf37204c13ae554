import { optional } from '#lib/control/field/field';
import { choice } from '#lib/control/field/kinds';
import { badInput } from '#lib/control/refusal';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const spans = { '15m': 15 * minuteMs, '1h': 60 * minuteMs, '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs };
const spanNames = ['15m', '1h', '24h', '7d', '30d'] as const;
type SpanName = (typeof spanNames)[number];

/** A range of time that ends now, whenever it is asked for: an address with it goes on meaning "the last hour". */
export const lastField = optional(
  choice({ label: 'Time', help: 'The newest calls alone, instead of "from".', example: '24h' }, spanNames),
);

interface Span {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** @throws ControlRefused bad_input for a beginning that is given twice. */
export function fromLast<Given extends Span & { readonly last?: SpanName | undefined }>(
  { last, ...given }: Given,
  nowMs: number,
): Omit<Given, 'last'> {
  if (last === undefined) return given;
  if (given.from !== undefined) throw badInput('last', 'give either this or "from", not both');
  return { ...given, from: new Date(nowMs - spans[last]) };
}

/**
 * The span of a search by upstream request id, for which there is no index: a day at most, the last one where
 * none is named. Other searches keep theirs.
 * @param nowMs ms since the epoch.
 * @throws ControlRefused bad_input for a longer one.
 */
export function searched<Given extends Span & { readonly upstreamRequestId?: string | undefined }>(
  given: Given,
  nowMs: number,
): Given {
  const { from, to, upstreamRequestId } = given;
  if (upstreamRequestId === undefined) return given;
  if (from && to) {
    if (to.getTime() - from.getTime() <= dayMs) return given;
    throw badInput(
      'to',
      'a search by upstream request id covers 24 hours: write a time that is nearer to "from"',
    );
  }
  if (from) return { ...given, to: new Date(from.getTime() + dayMs) };
  return { ...given, from: new Date((to?.getTime() ?? nowMs) - dayMs) };
}
