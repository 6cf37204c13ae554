import { isUtf8 } from 'node:buffer';
import type { FieldSpec, Scan, ScanFault } from '#lib/families/scan';
import { compileSpec } from '#lib/families/scan/spec';
import { byteAt, numberEnd, skipSpace, stringEnd } from '#lib/families/scan/text';
import { MAX_LEVELS, Walk } from '#lib/families/scan/walk';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const literals = { 116: ['true', 'boolean'], 102: ['false', 'boolean'], 110: ['null', 'null'] } as const;

/**
 * Validates a request body and finds the values that the gateway reads, in one pass without recursion:
 * strict JSON (RFC 8259) in strict UTF-8, an object of at most 512 levels, each guarded name once
 * (decisions §4).
 * @returns byte ranges and values; or one sentence that names the byte and what to change.
 */
export function scan(body: Uint8Array, spec: FieldSpec): Scan | ScanFault {
  const bytes = bufferOf(body);
  const start = skipSpace(bytes, 0);
  if (start >= bytes.length) return { fault: 'The body is empty; send a JSON object.' };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { fault: 'The body starts with a byte order mark; send the JSON object without it.' };
  }
  if (!isUtf8(bytes)) {
    return { fault: `The body is not valid UTF-8 at byte ${firstInvalidByte(bytes)}; encode it as UTF-8.` };
  }
  if (bytes[start] !== OPEN_OBJECT) {
    return { fault: `The body must be a JSON object, which starts with "{" (byte ${start}).` };
  }
  const walk = new Walk(bytes);
  walk.open(true, start, compileSpec(spec));
  const end = read(walk, start + 1);
  if (typeof end !== 'number') return end;
  const rest = skipSpace(bytes, end);
  if (rest < bytes.length) return broken(bytes, rest, 'nothing may follow the JSON object');
  return {
    body,
    root: { start, end, empty: skipSpace(bytes, start + 1) === end - 1 },
    found: walk.found,
    nulls: walk.nulls,
    collected: walk.collected,
    longStrings: walk.longStrings,
  };
}

/** Reads from inside the root object to its end. @returns the offset after it. */
function read(walk: Walk, from: number): number | ScanFault {
  const { body } = walk;
  let pos = skipSpace(body, from);
  // At the top of the loop a member (of an object) or an element (of an array) must start, or, right
  // after the opening bracket, the closing one.
  let fresh = true;
  for (;;) {
    if (fresh && body[pos] === (walk.frame.isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
      walk.close(++pos, true);
    } else {
      if (walk.frame.isObject) {
        if (body[pos] !== QUOTE) return broken(body, pos, 'a quoted key must stand here');
        const keyEnd = stringEnd(body, pos + 1);
        if (keyEnd < 0) return brokenString(body, ~keyEnd);
        const fault = walk.key(pos + 1, keyEnd - 1);
        if (fault !== null) return { fault: `In the body, at byte ${pos}, ${fault}.` };
        pos = skipSpace(body, keyEnd);
        if (body[pos] !== COLON) return broken(body, pos, 'a colon must follow the key');
        pos = skipSpace(body, pos + 1);
      }
      const c = body[pos];
      if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
        if (!walk.open(c === OPEN_OBJECT, pos, null)) {
          return { fault: `The body is nested deeper than ${MAX_LEVELS} levels at byte ${pos}; flatten it.` };
        }
        pos = skipSpace(body, pos + 1);
        fresh = true;
        continue;
      }
      const end = readScalar(walk, pos, c);
      if (typeof end !== 'number') return end;
      pos = end;
    }
    // A value has ended: close what ends here, up to the comma that leads to the next one.
    for (;;) {
      if (walk.depth === 0) return pos;
      pos = skipSpace(body, pos);
      const c = body[pos];
      if (c === COMMA) break;
      if (c !== (walk.frame.isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        return broken(body, pos, `a comma or "${walk.frame.isObject ? '}' : ']'}" must stand here`);
      }
      walk.close(++pos, false);
    }
    pos = skipSpace(body, pos + 1);
    fresh = false;
  }
}

function readScalar(walk: Walk, pos: number, c: number | undefined): number | ScanFault {
  const { body } = walk;
  if (c === QUOTE) {
    const end = stringEnd(body, pos + 1);
    if (end < 0) return brokenString(body, ~end);
    walk.scalar('string', pos, end);
    return end;
  }
  if (c === 0x2d || (c !== undefined && c >= 0x30 && c <= 0x39)) {
    const end = numberEnd(body, pos);
    if (end < 0) return broken(body, ~end, 'a digit of the number must stand here');
    walk.scalar('number', pos, end);
    return end;
  }
  if (c === 0x74 || c === 0x66 || c === 0x6e) {
    const [word, type] = literals[c];
    for (let i = 0; i < word.length; i++) {
      if (body[pos + i] !== word.charCodeAt(i)) return broken(body, pos + i, `"${word}" is misspelled here`);
    }
    walk.scalar(type, pos, pos + word.length);
    return pos + word.length;
  }
  return broken(body, pos, 'a value must stand here');
}

function brokenString(body: Uint8Array, pos: number): ScanFault {
  if (pos >= body.length) return broken(body, pos, 'a string is not closed');
  return byteAt(body, pos) === 0x5c
    ? broken(body, pos, 'this escape does not exist')
    : broken(body, pos, 'a control character inside a string must be escaped');
}

function broken(body: Uint8Array, pos: number, what: string): ScanFault {
  const where = pos >= body.length ? `it ends at byte ${body.length} too early` : `at byte ${pos}`;
  return { fault: `The body is not valid JSON: ${where}; ${what}.` };
}

/** Offset of the character that is not UTF-8: the longest valid prefix, found by halving. */
function firstInvalidByte(bytes: Buffer): number {
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 4) {
    let middle = (valid + invalid) >>> 1;
    for (let back = 0; back < 3 && (byteAt(bytes, middle) & 0xc0) === 0x80; back++) middle--;
    if (middle <= valid) break;
    if (isUtf8(bytes.subarray(valid, middle))) valid = middle;
    else invalid = middle;
  }
  while (valid < invalid && isUtf8(bytes.subarray(0, valid + 1))) valid++;
  return valid;
}

/** The same memory as a Buffer: its decoders are native. */
function bufferOf(body: Uint8Array): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
