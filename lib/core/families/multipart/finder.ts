import { type PartHead, readPartHead } from '#lib/core/families/multipart/part-head';
import type { ScanFault } from '#lib/core/families/scan';

/** One part and the place of its value, in bytes of the whole body; `end` is exclusive. */
export interface Part extends PartHead {
  readonly start: number;
  readonly end: number;
  /** The value of a text part of at most 64 KiB; null: a file, or too long to be read. */
  readonly text: Buffer | null;
}

export const MAX_PARTS = 1_000;
const MAX_HEAD_BYTES = 8 * 1024;
/** Of all parts together: their names are kept until both readers of the body have seen its end. */
const MAX_HEADS_BYTES = 1024 * 1024;
/** Text parts up to this size are read (contract: body/multipart). */
export const MAX_TEXT_BYTES = 64 * 1024;
const MAX_EPILOGUE_BYTES = 1024;

const CR = 0x0d;
const LF = 0x0a;
const HEAD_END = Buffer.from('\r\n\r\n');

type State = 'opening' | 'delimited' | 'head' | 'value' | 'epilogue';

/**
 * Finds the parts of a multipart body while its bytes pass: the delimiter lines by native search, in
 * whatever pieces they come; no file is kept. Pure but for its own state. Stricter than RFC 2046 wherever
 * parsers are known to differ: no preamble, no padding, nothing that only resembles a delimiter.
 */
export class PartFinder {
  readonly #needle: Buffer;
  readonly #onPart: (part: Part) => void;
  #count = 0;
  /** What has come and is not used up yet: at most a head, or as much as a delimiter may have of it. */
  #held: Buffer;
  #heldBytes = 0;
  /** Offset in the body of the first byte held. */
  #base = 0;
  #state: State = 'opening';
  #head: PartHead | null = null;
  #headBytes = 0;
  #valueStart = 0;
  /** Offset in the body up to which no delimiter was found. */
  #searched = 0;
  #text: Buffer[] | null = null;
  #textBytes = 0;
  #epilogueBytes = 0;

  /** @param onPart called with each part when its end is found. */
  constructor(boundary: string, onPart: (part: Part) => void) {
    this.#onPart = onPart;
    this.#needle = Buffer.from(`--${boundary}`, 'latin1');
    this.#held = Buffer.allocUnsafe(80 * 1024);
  }

  /** Takes the next bytes, which may be used again afterwards. @returns what is wrong, or null. */
  push(chunk: Uint8Array): ScanFault | null {
    const length = this.#heldBytes + chunk.length;
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafe(length + MAX_HEAD_BYTES);
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    this.#held.set(chunk, this.#heldBytes);
    const data = this.#held.subarray(0, length);
    let pos = 0;
    for (;;) {
      const next = this.#step(data, pos);
      if (typeof next === 'object') return next;
      if (next < 0) {
        pos = -next - 1;
        break;
      }
      pos = next;
    }
    this.#held.copyWithin(0, pos, length);
    this.#heldBytes = length - pos;
    this.#base += pos;
    return null;
  }

  /** The body is over. @returns what is missing, or null. */
  end(): ScanFault | null {
    if (this.#state !== 'epilogue') return broken('it ends before its closing delimiter');
    return this.#count > 0 ? null : broken('it has no parts');
  }

  /** @returns the offset to go on from; `-offset - 1` when more bytes are needed from there on. */
  #step(data: Buffer, pos: number): number | ScanFault {
    switch (this.#state) {
      case 'opening':
        return this.#opening(data, pos);
      case 'delimited':
        return this.#delimited(data, pos);
      case 'head':
        return this.#readHead(data, pos);
      case 'value':
        return this.#value(data, pos);
      case 'epilogue':
        return this.#epilogue(data, pos);
    }
  }

  #opening(data: Buffer, pos: number): number | ScanFault {
    // Some writers put the line end of every delimiter before the first one, too.
    const start = data[pos] === CR ? pos + 2 : pos;
    const end = start + this.#needle.length;
    if (data.length < end) return -pos - 1;
    const opens = start === pos || data[pos + 1] === LF;
    if (!opens || data.compare(this.#needle, 0, this.#needle.length, start, end) !== 0) {
      return broken('it must start with the delimiter that the Content-Type names');
    }
    this.#state = 'delimited';
    return end;
  }

  #delimited(data: Buffer, pos: number): number | ScanFault {
    if (data.length < pos + 2) return -pos - 1;
    const line = data.toString('latin1', pos, pos + 2);
    if (line === '--') this.#state = 'epilogue';
    else if (line === '\r\n') this.#state = 'head';
    else return broken(`the delimiter at byte ${this.#base + pos} is followed by unexpected characters`);
    return pos + 2;
  }

  #readHead(data: Buffer, pos: number): number | ScanFault {
    const number = this.#count + 1;
    if (number > MAX_PARTS) return { fault: `The body has over ${MAX_PARTS} parts; send fewer.` };
    const end = data.indexOf(HEAD_END, pos);
    if ((end < 0 ? data.length : end) - pos > MAX_HEAD_BYTES) {
      return { fault: `Part ${number} of the body has headers of over 8 KiB; send shorter ones.` };
    }
    if (end < 0) return -pos - 1;
    this.#headBytes += end - pos;
    if (this.#headBytes > MAX_HEADS_BYTES) {
      return { fault: 'The parts of the body have headers of over 1 MiB together; send shorter ones.' };
    }
    const head = readPartHead(data.subarray(pos, end));
    if (typeof head === 'string') return { fault: `Part ${number} of the body ${head}.` };
    this.#head = head;
    this.#state = 'value';
    this.#valueStart = this.#base + end + HEAD_END.length;
    this.#searched = this.#valueStart;
    this.#text = head.filename === null ? [] : null;
    this.#textBytes = 0;
    return end + HEAD_END.length;
  }

  #value(data: Buffer, pos: number): number | ScanFault {
    const found = data.indexOf(this.#needle, this.#searched - this.#base);
    if (found < 0) {
      // What may be a line end and the start of a delimiter stays.
      const keep = Math.max(pos, data.length - this.#needle.length - 1);
      this.#take(data, pos, keep);
      this.#searched = Math.max(this.#searched, this.#base + keep);
      return -keep - 1;
    }
    const at = this.#base + found;
    const isLineStart = at === this.#valueStart || data[found - 1] === LF || data[found - 1] === CR;
    if (!isLineStart) {
      // In the middle of a line it is part of the value. Its last two bytes may begin a line end.
      this.#searched = at + 1;
      const keep = Math.max(pos, found - 1);
      this.#take(data, pos, keep);
      return keep;
    }
    if (at - this.#valueStart < 2 || data[found - 1] !== LF || data[found - 2] !== CR) {
      return broken(`a line in a part (byte ${at}) starts like the delimiter; use another boundary`);
    }
    this.#take(data, pos, found - 2);
    this.#close(at - 2);
    return found + this.#needle.length;
  }

  #close(end: number): void {
    if (!this.#head) return;
    this.#count += 1;
    this.#state = 'delimited';
    this.#onPart({
      ...this.#head,
      start: this.#valueStart,
      end,
      text: this.#text && Buffer.concat(this.#text),
    });
  }

  /** Bytes of the value go by: of text a copy is kept while it may be read. */
  #take(data: Buffer, from: number, to: number): void {
    if (this.#text === null || to <= from) return;
    this.#textBytes += to - from;
    if (this.#textBytes > MAX_TEXT_BYTES) this.#text = null;
    else this.#text.push(Buffer.from(data.subarray(from, to)));
  }

  #epilogue(data: Buffer, pos: number): number | ScanFault {
    for (let at = pos; at < data.length; at++) {
      this.#epilogueBytes += 1;
      const isLineEnd = data[at] === CR || data[at] === LF;
      if (!isLineEnd || this.#epilogueBytes > MAX_EPILOGUE_BYTES) {
        return broken(`data follows its closing delimiter (byte ${this.#base + at})`);
      }
    }
    return -data.length - 1;
  }
}

function broken(what: string): ScanFault {
  return { fault: `The multipart body is malformed: ${what}.` };
}
