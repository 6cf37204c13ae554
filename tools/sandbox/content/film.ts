import { type Answer, freeOfCharge, type ReceivedRequest } from '#tools/sandbox/dialect';

/** Bytes of one piece. */
const PIECE_BYTES = 65_536;
/** The film repeats after this many bytes: a prime, so that no two pieces begin alike. */
const LOOP_BYTES = 65_521;

/** How an MP4 file begins. */
const opening = Buffer.from('\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41', 'latin1');
const loop = makeLoop();

/** Twice the loop, so that any piece is one slice of it. */
function makeLoop(): Buffer {
  const bytes = Buffer.alloc(LOOP_BYTES + PIECE_BYTES);
  let state = 1;
  for (let i = 0; i < LOOP_BYTES; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = state >>> 24;
  }
  bytes.copy(bytes, LOOP_BYTES, 0, PIECE_BYTES);
  return bytes;
}

/** Bytes [start, end) of the only film: generated as they are read, never stored. */
export function* filmBytes(start: number, end: number): Generator<Buffer> {
  let at = start;
  if (at < opening.length && at < end) {
    const piece = opening.subarray(at, Math.min(opening.length, end));
    at += piece.length;
    yield piece;
  }
  while (at < end) {
    const from = at % LOOP_BYTES;
    const piece = loop.subarray(from, from + Math.min(PIECE_BYTES, end - at));
    at += piece.length;
    yield piece;
  }
}

/** A file of that film as a provider serves it: whole, a range, or not modified. */
export function fileAnswer({ headers }: ReceivedRequest, length: number, type: string): Answer {
  const etag = `"film-${length}"`;
  const plain = { etag, 'accept-ranges': 'bytes', 'last-modified': 'Wed, 01 Jan 2025 00:00:00 GMT' };
  const nothing = { kind: 'bytes', bytes: Buffer.alloc(0), type } as const;
  if (headers['if-none-match'] === etag) {
    return { truth: freeOfCharge, status: 304, headers: plain, content: nothing };
  }
  const asked = headers['if-range'] === undefined || headers['if-range'] === etag ? headers.range : undefined;
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(asked ?? '') ?? [];
  if (first === '' && last === '') {
    const pieces = filmBytes(0, length);
    return { truth: freeOfCharge, headers: plain, content: { kind: 'flow', length, type, pieces } };
  }
  const start = first === '' ? Math.max(0, length - Number(last)) : Number(first);
  const end = first === '' || last === '' ? length : Math.min(Number(last) + 1, length);
  if (start >= end) {
    const ranged = { ...plain, 'content-range': `bytes */${length}` };
    return { truth: freeOfCharge, status: 416, headers: ranged, content: nothing };
  }
  return {
    truth: freeOfCharge,
    status: 206,
    headers: { ...plain, 'content-range': `bytes ${start}-${end - 1}/${length}` },
    content: { kind: 'flow', length: end - start, type, pieces: filmBytes(start, end) },
  };
}
