import type { Ask, Family } from '#lib/families/family';
import type { Meter } from '#lib/metering/meter';
import { elementMeter, streamMeter } from '#lib/metering/stream-meter';
import { wholeMeter } from '#lib/metering/whole-meter';
import { framingOf } from '#lib/relay/framing';

/**
 * @param answer contentType decides how the answer is read, since a stream may be answered by a whole
 * body and the reverse; without a telling one, `streamed` does (default: as asked).
 */
export function createMeter(
  family: Family,
  ask: Ask,
  answer: { readonly contentType?: string | null; readonly streamed?: boolean },
): Meter {
  const type = answer.contentType?.toLowerCase() ?? '';
  const framing = framingOf(type, mayStreamArray(family, ask));
  if (framing === 'events') return streamMeter(family, ask);
  if (framing === 'elements') return elementMeter(family, ask);
  // An error page is never a stream, whatever was asked for.
  if (type.includes('json') || /^(image|audio|video|text\/html)/.test(type))
    return wholeMeter(family, ask, type);
  return (answer.streamed ?? ask.stream) ? streamMeter(family, ask) : wholeMeter(family, ask, type);
}

/** Whether a JSON answer is a stream of its own: of an array's elements. */
export function mayStreamArray(family: Family, ask: Ask): boolean {
  return ask.stream && family.streamsArrays === true;
}
