import type { Ask, Family } from '#lib/core/families/family';
import type { Meter } from '#lib/core/metering/meter';
import { PlainMeter } from '#lib/core/metering/plain-meter';
import { StreamMeter } from '#lib/core/metering/stream-meter';
import { WholeMeter } from '#lib/core/metering/whole-meter';
import { ElementSplitter } from '#lib/core/relay/elements';
import { type Framing, framingOf } from '#lib/core/relay/framing';
import { EventSplitter } from '#lib/core/relay/sse';

/** How one answer is read: in which form it comes, and what it used. */
export interface Reading {
  readonly framing: Framing;
  readonly meter: Meter;
  /** A whole answer that is not JSON: it is sent as it comes, all but its last byte. */
  readonly plain?: true;
}

/**
 * @param answer contentType decides how the answer is read, since a stream may be answered by a whole
 * body and the reverse; if it decides nothing, `streamed` does (default: as asked).
 */
export function createReading(
  family: Family,
  ask: Ask,
  answer: { readonly contentType?: string | null; readonly streamed?: boolean },
): Reading {
  const type = answer.contentType?.toLowerCase() ?? '';
  const reader = /^text\/event-stream\b/.test(type) ? null : (family.bodyReader?.(ask, type) ?? null);
  const streamed = answer.streamed ?? ask.stream;
  // Without a type, it is what was asked for.
  if (reader && !(streamed && type === ''))
    return { framing: 'whole', plain: true, meter: new PlainMeter(reader) };
  const framing = framingOfAnswer(family, ask, type, streamed);
  if (framing === 'whole') {
    return { framing, meter: new WholeMeter(family, ask, !/^(image|audio|video)\//.test(type)) };
  }
  const splitter = framing === 'events' ? new EventSplitter() : new ElementSplitter();
  return { framing, meter: new StreamMeter(family.streamReader(ask), splitter) };
}

/** Of an answer whose coding cannot be undone here: its bytes are counted. */
export function sealedReading(family: Family, ask: Ask): Reading {
  return { framing: 'whole', meter: new WholeMeter(family, ask, false) };
}

function framingOfAnswer(family: Family, ask: Ask, type: string, streamed: boolean): Framing {
  // A JSON answer may be a stream of its own: of an array's elements.
  const framing = framingOf(type, ask.stream && family.streamsArrays === true);
  // An error page is never a stream, whatever was asked for.
  const telling = type.includes('json') || /^(image|audio|video|text\/html)/.test(type);
  return framing === 'whole' && streamed && !telling ? 'events' : framing;
}
