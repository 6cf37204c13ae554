const TTL = Buffer.from('"ttl"');
/**
 * Requests may have four cache marks; at this many the scan stops, to save time, and the more expensive lifetime is
 * assumed.
 */
const MOST_LOOKS = 1_000;
const MARK = Buffer.from('"cache_control"');

/**
 * How long the request asks for its prompt to be cached: an hour only when every mark in it says so;
 * some answers report how much was written to the cache, but not for how long. Quotes inside strings are
 * escaped, so only keys are found.
 */
export function asksForHour(body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let hours = 0;
  let looks = 0;
  for (let at = bytes.indexOf(TTL); at >= 0 && looks < MOST_LOOKS; at = bytes.indexOf(TTL, at + 1)) {
    if (/^\s*:\s*"1h"/.test(bytes.toString('latin1', at + TTL.length, at + TTL.length + 40))) hours += 1;
    looks += 1;
  }
  return hours > 0 && (looks === MOST_LOOKS || hours >= marksIn(bytes));
}

function marksIn(bytes: Buffer): number {
  let marks = 0;
  for (let at = bytes.indexOf(MARK); at >= 0 && marks < MOST_LOOKS; at = bytes.indexOf(MARK, at + 1))
    marks += 1;
  return marks;
}
