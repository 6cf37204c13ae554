/**
 * How an answer arrives: as SSE events, as the elements of a JSON array that is written bit by bit, or as
 * one whole body. The first two are streams: they are relayed and metered as they come (contract: families/streams).
 */
export type Framing = 'events' | 'elements' | 'whole';

/**
 * @param contentType of the answer; it decides, since a stream may be answered by a whole body and the
 * reverse.
 * @param mayBeArray a stream was asked for in a family that also streams JSON arrays.
 */
export function framingOf(contentType: string, mayBeArray: boolean): Framing {
  if (/^text\/event-stream\b/i.test(contentType)) return 'events';
  return mayBeArray && /json/i.test(contentType) ? 'elements' : 'whole';
}
