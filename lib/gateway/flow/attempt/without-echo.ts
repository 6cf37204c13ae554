import { asciiJson } from '#lib/gateway/settlement/pure/record/storable';

/** A run of so many bytes that the request also contains is the client's. */
const ECHO_BYTES = 32;
/** Every place of the request that is a multiple of this is looked up: a run of 32 bytes covers one whole. */
const STEP = 16;
/** A text and a request that repeat one letter would otherwise be compared at every place. */
const MOST_COMPARED = 1_000_000;

/**
 * Cuts a text where it begins to repeat a JSON request, whichever way the request escapes other letters
 * (contract: call-log/provider-error). Reads the request once, some 3 ms for a megabyte.
 * @param end takes the place of what is left out.
 */
export function withoutEcho(text: string, request: Uint8Array, end: string): string {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = asciiJson(json);
  const starts = [startOfEcho(Buffer.from(json), request)];
  if (ascii !== json) starts.push(startOfEcho(Buffer.from(ascii), request));
  const [utf8 = null, escaped = null] = starts;
  const kept = [
    utf8 === null ? text : textOf(Buffer.from(json).subarray(0, utf8)),
    escaped === null ? text : textOf(Buffer.from(ascii).subarray(0, escaped)),
  ].sort((a, b) => a.length - b.length)[0];
  return kept === undefined || kept === text ? text : kept + end;
}

/** What was written as JSON up to some byte, without a letter or an escape that was cut there. */
function textOf(bytes: Buffer): string {
  const whole = bytes.toString().replace(/\ufffd+$/, '');
  for (let cut = whole.length; cut > whole.length - 6 && cut > 0; cut -= 1) {
    try {
      return JSON.parse(`"${whole.slice(0, cut)}"`);
    } catch {
      // An escape was cut.
    }
  }
  return '';
}

/** @returns where the first run of 32 bytes that both contain begins; null: there is none. */
function startOfEcho(text: Buffer, request: Uint8Array): number | null {
  const places = new Map<number, number[]>();
  for (let at = 0; at + 4 <= text.length; at += 1) {
    const gram = gramAt(text, at);
    const known = places.get(gram);
    if (known) known.push(at);
    else places.set(gram, [at]);
  }
  let first: number | null = null;
  let compared = 0;
  for (let at = 0; at + 4 <= request.length; at += STEP) {
    for (const place of places.get(gramAt(request, at)) ?? []) {
      if (first !== null && place - ECHO_BYTES > first) break;
      let before = 0;
      while (before < ECHO_BYTES && same(text, place - before - 1, request, at - before - 1)) before += 1;
      let length = before + 4;
      while (length < ECHO_BYTES && same(text, place - before + length, request, at - before + length))
        length += 1;
      compared += length;
      if (length >= ECHO_BYTES) first = Math.min(first ?? text.length, place - before);
      if (compared > MOST_COMPARED) return 0;
    }
  }
  return first;
}

function gramAt(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)
  );
}

function same(text: Uint8Array, place: number, request: Uint8Array, at: number): boolean {
  return place >= 0 && at >= 0 && place < text.length && at < request.length && text[place] === request[at];
}
