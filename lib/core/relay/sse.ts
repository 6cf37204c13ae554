import { isInsideString, KEPT_AS_IT_COMES } from '#lib/core/relay/long-strings';

/** One event of an SSE stream. */
export interface SseEvent {
  /** Its `event:` line; null when it has none. */
  readonly name: string | null;
  /** Its `data:` lines, joined by line feeds. */
  readonly data: string;
  /** Byte offsets in the whole stream, from its first byte to after its blank line. */
  readonly start: number;
  readonly end: number;
}

/** Bytes that one event may have before it is passed over instead of kept. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const DATA = Buffer.from('data:');

/**
 * Cuts a byte stream into SSE events as WHATWG defines them: lines end in LF, CR or CRLF, a byte order
 * mark at the start is skipped, comments and unknown fields are ignored. It only reads: what goes to
 * the client are the chunks themselves.
 */
export class EventSplitter {
  readonly #maxEventBytes: number;
  /** Stream offset of the current chunk. */
  #offset = 0;
  /** Pieces of the line that is not yet ended. */
  #line: Uint8Array[] = [];
  #lineEmpty = true;
  #afterCr = false;
  #start = 0;
  #name: string | null = null;
  #data: string | null = null;
  /** Of the current event. */
  #keptBytes = 0;
  #skipping = false;
  #overflowed = false;

  constructor(maxEventBytes = MAX_EVENT_BYTES) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** An event was too long to be read; it went by unseen. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  /** @returns the events that this chunk completes. The chunk must not change afterwards. */
  push(chunk: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    let lineStart = 0;
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk[i];
      if (c !== LF && c !== CR) continue;
      const empty = this.#lineEmpty && i === lineStart;
      if (c === LF && empty && this.#afterCr) {
        // The second half of a CRLF.
        this.#afterCr = false;
        if (this.#start === this.#offset + i) this.#start++;
      } else {
        this.#afterCr = c === CR;
        if (empty) this.#dispatch(this.#offset + i + 1, events);
        else this.#endLine(chunk.subarray(lineStart, i));
      }
      lineStart = i + 1;
    }
    if (lineStart < chunk.length) this.#keep(chunk.subarray(lineStart));
    this.#offset += chunk.length;
    return events;
  }

  /** The stream is over. @returns the event that it left without its blank line, or null. */
  flush(): SseEvent | null {
    if (!this.#lineEmpty) this.#endLine(new Uint8Array());
    const events: SseEvent[] = [];
    this.#dispatch(this.#offset, events);
    return events[0] ?? null;
  }

  #keep(piece: Uint8Array): void {
    this.#lineEmpty = false;
    if (this.#keptBytes > KEPT_AS_IT_COMES && isInsideString(piece)) return;
    this.#keptBytes += piece.length;
    if (this.#keptBytes > this.#maxEventBytes) this.#skip();
    if (!this.#skipping) this.#line.push(piece);
  }

  #skip(): void {
    this.#skipping = true;
    this.#overflowed = true;
    this.#line = [];
    this.#data = null;
  }

  #endLine(tail: Uint8Array): void {
    const parts = this.#line;
    if (parts.length > 0) this.#line = [];
    this.#keptBytes += tail.length;
    this.#lineEmpty = true;
    if (this.#skipping) return;
    const line = parts.length > 0 ? Buffer.concat([...parts, tail]) : bufferOf(tail);
    this.#field(this.#start === 0 ? withoutMark(line) : line);
  }

  #field(line: Buffer): void {
    if (line.length >= 5 && line.compare(DATA, 0, 5, 0, 5) === 0) {
      this.#addData(line.toString('utf8', line[5] === 0x20 ? 6 : 5));
      return;
    }
    if (line[0] !== 0x65 && line[0] !== 0x64) return;
    const text = line.toString('utf8');
    if (text === 'data') this.#addData('');
    else if (text === 'event') this.#name = '';
    else if (text.startsWith('event:')) this.#name = text.slice(text[6] === ' ' ? 7 : 6);
  }

  #addData(value: string): void {
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
  }

  #dispatch(end: number, events: SseEvent[]): void {
    if (this.#data !== null && this.#data !== '') {
      events.push({ name: this.#name || null, data: this.#data, start: this.#start, end });
    }
    this.#name = null;
    this.#data = null;
    this.#keptBytes = 0;
    this.#skipping = false;
    this.#start = end;
  }
}

function withoutMark(line: Buffer): Buffer {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
