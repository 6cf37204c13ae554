import { broken, characterStart, encodingFault } from '#lib/core/families/scan/faults';
import { QUICK_BYTES, type QuickScanner, quickScanner } from '#lib/core/families/scan/quick';
import { Reading } from '#lib/core/families/scan/read';
import type { FieldSpec, Scan, ScanFault } from '#lib/core/families/scan/shape';
import { compileSpec } from '#lib/core/families/scan/spec';
import { skipSpace } from '#lib/core/families/scan/text';
import { Walk } from '#lib/core/families/scan/walk';

const OPEN_OBJECT = 0x7b;

/** Bytes of a large body that are scanned before other work runs: less than 2 ms, even if every key is escaped. */
const SLICE_BYTES = 32 * 1024;

/** The same for its encoding, which native code checks. */
const ENCODING_SLICE_BYTES = 4 * 1024 * 1024;

/** Limit of the white space before and after the object, which is not scanned in slices. */
const MAX_SPACE_BYTES = 1024 * 1024;

/** Yields to other work. @param leftBytes bytes of the body that are still to be scanned. */
export type ScanTurn = (leftBytes: number) => Promise<void>;

/**
 * Validates a request body and finds the values that the gateway reads, in one pass without recursion:
 * strict JSON (RFC 8259) in strict UTF-8, an object of at most 512 levels, each guarded name once
 * (contract: body/one-pass).
 * @param quick null: the parser alone, which gives the same result.
 * @returns byte ranges and values; or one sentence that names the byte and what to change.
 */
export function scan(
  body: Uint8Array,
  spec: FieldSpec,
  quick: QuickScanner | null = quickScanner,
): Scan | ScanFault {
  const bytes = bufferOf(body);
  const start = rootStart(bytes);
  if (typeof start !== 'number') return start;
  const fault = encodingFault(bytes, 0, bytes.length);
  if (fault) return fault;
  const pass = openPass(bytes, start, spec, { quick, interrupted: false });
  if ('fault' in pass) return pass;
  for (;;) {
    const end = pass.reading.advance(Math.min(body.length, pass.reading.pos + QUICK_BYTES));
    if (typeof end !== 'number') return end;
    if (end >= 0) return closePass(pass, body, end);
  }
}

/** `scan` for a large body, in slices: other calls wait for one slice at most. */
export async function scanInSlices(
  body: Uint8Array,
  spec: FieldSpec,
  turn: ScanTurn,
  sliceBytes = SLICE_BYTES,
): Promise<Scan | ScanFault> {
  await turn(body.length);
  const bytes = bufferOf(body);
  const start = rootStart(bytes);
  if (typeof start !== 'number') return start;
  for (let from = 0; from < bytes.length; ) {
    if (from > 0) await turn(body.length);
    const until = characterStart(bytes, Math.min(bytes.length, from + ENCODING_SLICE_BYTES));
    const fault = encodingFault(bytes, from, until);
    if (fault) return fault;
    from = until;
  }
  const pass = openPass(bytes, start, spec, { quick: quickScanner, interrupted: true });
  if ('fault' in pass) return pass;
  for (;;) {
    await turn(body.length - pass.reading.pos);
    const end = pass.reading.advance(Math.min(body.length, pass.reading.pos + sliceBytes));
    if (typeof end !== 'number') return end;
    if (end >= 0) return closePass(pass, body, end);
  }
}

interface Pass {
  readonly bytes: Buffer;
  readonly walk: Walk;
  readonly reading: Reading;
  readonly start: number;
}

/** Where the root object should start. */
function rootStart(bytes: Buffer): number | ScanFault {
  const start = skipSpace(bytes, 0, Math.min(bytes.length, MAX_SPACE_BYTES));
  if (start >= bytes.length) return { fault: 'The body is empty; send a JSON object.' };
  return start >= MAX_SPACE_BYTES ? spacious(0) : start;
}

/** @param bytes whose encoding was checked. */
function openPass(
  bytes: Buffer,
  start: number,
  spec: FieldSpec,
  { quick, interrupted }: { quick: QuickScanner | null; interrupted: boolean },
): Pass | ScanFault {
  if (bytes[start] !== OPEN_OBJECT) {
    return { fault: `The body must be a JSON object, which starts with "{" (byte ${start}).` };
  }
  const walk = new Walk(bytes, compileSpec(spec), interrupted);
  walk.open(true, start);
  return { bytes, walk, reading: new Reading(walk, start + 1, quick), start };
}

/** @param end the offset after the root object. */
function closePass({ bytes, walk, reading, start }: Pass, body: Uint8Array, end: number): Scan | ScanFault {
  const rest = skipSpace(bytes, end, Math.min(bytes.length, end + MAX_SPACE_BYTES));
  if (rest >= end + MAX_SPACE_BYTES) return spacious(end);
  if (rest < bytes.length) return broken(bytes, rest, 'nothing may follow the JSON object');
  return {
    body,
    root: { start, end, empty: reading.empty },
    found: walk.found,
    nulls: walk.nulls,
    collected: walk.collection.kept,
    longStrings: walk.longStrings,
  };
}

function spacious(pos: number): ScanFault {
  return { fault: `The body has over 1 MiB of white space at byte ${pos}; send only the JSON object.` };
}

/** The same memory as a Buffer: its decoders are native. */
function bufferOf(body: Uint8Array): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
