/** One message of the PostgreSQL wire protocol, as it came. */
export interface Frame {
  /** The type byte as a character; '' for a start-up packet, which has none. */
  readonly type: string;
  readonly bytes: Buffer;
}

const longestFrame = 1 << 30;

/** Cuts a byte stream into the messages of the PostgreSQL frontend protocol (version 3). */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  #started = false;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** Called once the start-up packet was accepted: what follows carries a type byte. */
  started(): void {
    this.#started = true;
  }

  /**
   * @returns the next whole message, or null until more bytes have come.
   * @throws on a length that no message has.
   */
  next(): Frame | null {
    const header = this.#started ? 5 : 4;
    const head = this.#peek(header);
    if (!head) return null;
    const length = head.readInt32BE(header - 4);
    if (length < 4 || length > longestFrame) throw new Error('bad message length');
    const bytes = this.#take(length + header - 4);
    return bytes && { type: this.#started ? String.fromCharCode(head.readUInt8(0)) : '', bytes };
  }

  #peek(size: number): Buffer | null {
    if (this.#size < size) return null;
    const first = this.#chunks[0];
    return first && first.length >= size ? first : this.#join();
  }

  #take(size: number): Buffer | null {
    if (this.#size < size) return null;
    const all = this.#join();
    this.#chunks = all.length > size ? [all.subarray(size)] : [];
    this.#size -= size;
    return all.subarray(0, size);
  }

  #join(): Buffer {
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const all = only ?? Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}

/** What a start-up packet asks for (its second word). */
export function startupKind(packet: Buffer): 'session' | 'encryption' | 'cancel' | 'unknown' {
  const code = packet.length >= 8 ? packet.readInt32BE(4) : 0;
  if (code >> 16 === 3) return 'session';
  if (code === 80877103 || code === 80877104) return 'encryption';
  return code === 80877102 ? 'cancel' : 'unknown';
}

/** A message of one string: `Q` is a simple query; `S` with none is Sync. */
export function frameOf(type: string, text?: string): Buffer {
  const body = Buffer.from(text === undefined ? '' : `${text}\0`);
  const frame = Buffer.alloc(5 + body.length);
  frame.write(type, 0, 'latin1');
  frame.writeInt32BE(4 + body.length, 1);
  body.copy(frame, 5);
  return frame;
}
