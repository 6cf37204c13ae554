import { connect, type Socket } from 'node:net';

export interface Exchange {
  readonly status: number;
  readonly startNs: bigint;
  readonly firstByteNs: bigint;
  readonly endNs: bigint;
}

/** One keep-alive connection that sends requests one after another, as cheaply as possible. */
export class Connection {
  readonly #socket: Socket;
  #head = '';
  #tail = '';
  #left: number | null = null;
  #status = 0;
  #startNs = 0n;
  #firstByteNs = 0n;
  #answer: ((exchange: Exchange) => void) | null = null;
  #failed: ((error: Error) => void) | null = null;
  #onBody: ((text: string) => void) | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (part) => this.#read(part.toString('latin1')));
    const fail = (error: Error) => this.#failed?.(error);
    socket.on('error', fail).on('close', () => fail(new Error('the server closed the connection')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('connect', () => resolve(new Connection(socket))).once('error', reject);
    });
  }

  /** @param onBody body bytes as they arrive, including chunk framing. */
  send(request: Uint8Array, onBody: ((text: string) => void) | null = null): Promise<Exchange> {
    return new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#failed = reject;
      this.#onBody = onBody;
      this.#head = '';
      this.#tail = '';
      this.#left = null;
      this.#firstByteNs = 0n;
      this.#startNs = process.hrtime.bigint();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = null;
    this.#socket.destroy();
  }

  #read(part: string): void {
    if (this.#firstByteNs === 0n) this.#firstByteNs = process.hrtime.bigint();
    let body = part;
    if (this.#status === 0) {
      this.#head += part;
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = this.#head.slice(0, end);
      body = this.#head.slice(end + 4);
      this.#status = Number(head.slice(9, 12));
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      this.#left = length === undefined ? null : Number(length);
    }
    if (body.length > 0) this.#onBody?.(body);
    if (this.#left === null) {
      this.#tail = (this.#tail + body).slice(-7);
      if (this.#tail.endsWith('0\r\n\r\n')) this.#finish();
    } else {
      this.#left -= body.length;
      if (this.#left <= 0) this.#finish();
    }
  }

  #finish(): void {
    const exchange = {
      status: this.#status,
      startNs: this.#startNs,
      firstByteNs: this.#firstByteNs,
      endNs: process.hrtime.bigint(),
    };
    this.#status = 0;
    this.#answer?.(exchange);
  }
}

/** A complete HTTP request. */
export function requestBytes(key: string, body: string): Buffer {
  const length = Buffer.byteLength(body);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  return Buffer.from(head + body);
}
