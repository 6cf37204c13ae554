import type { ServerResponse } from 'node:http';

/** The most bytes of an answer's body that the truth log gets. */
const MOST_KEPT = 65_536;

/** The connection to one client: back-pressure, slices, and ways to break it. */
export class Outlet {
  /** null until the status line is sent. */
  status: number | null = null;
  bytesSent = 0;
  /** When the client left before the end of the answer, ms since the epoch; null: it did not. */
  goneAtMs: number | null = null;
  readonly #response: ServerResponse;
  readonly #kept: Buffer[] = [];
  #broken = false;
  #released = false;
  #wake: (() => void) | null = null;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('close', () => {
      if (!response.writableFinished && !this.#broken) this.goneAtMs = Date.now();
      this.#wake?.();
    });
    response.on('drain', () => this.#wake?.());
    response.on('error', () => this.#wake?.());
  }

  /** The first 64 KiB of the body as given to the socket. */
  get sent(): Buffer {
    return Buffer.concat(this.#kept).subarray(0, MOST_KEPT);
  }

  get gone(): boolean {
    return this.goneAtMs !== null;
  }

  start(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.gone) return;
    this.status = status;
    this.#response.writeHead(status, headers);
    this.#response.flushHeaders();
  }

  /** @param sliceBytes bytes per write; null: all at once. Resolves when the socket accepts more. */
  async write(bytes: Buffer, sliceBytes: number | null): Promise<void> {
    const step = sliceBytes ?? bytes.length;
    for (let at = 0; at < bytes.length && !this.gone; at += step) {
      const slice = bytes.subarray(at, at + step);
      if (this.bytesSent < MOST_KEPT) this.#kept.push(slice);
      this.bytesSent += slice.length;
      if (!this.#response.write(slice)) await this.#pause(null);
      // Without a turn of the event loop, the slices would leave in one packet.
      else if (sliceBytes !== null) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Waits for this long, or until the client is gone. */
  async sleep(ms: number): Promise<void> {
    if (!this.gone && ms > 0) await this.#pause(ms);
  }

  /** Waits until it is released, `ms` are over (null: never) or the client is gone; once released, it never waits. */
  async stall(ms: number | null): Promise<void> {
    if (!this.#released) await this.sleep(ms ?? Infinity);
  }

  /** Ends the current stall and prevents later ones. */
  release(): void {
    this.#released = true;
    this.#wake?.();
  }

  /** Ends the body properly; resolves when the client has it or is gone. */
  async end(): Promise<void> {
    if (this.gone) return;
    this.#response.end();
    while (!this.#response.writableFinished && !this.#response.destroyed) {
      await new Promise((resolve) => this.#response.once('finish', resolve).once('close', resolve));
    }
  }

  /** Sends FIN after what was written, without the last chunk. */
  fin(): void {
    this.#broken = true;
    this.#response.socket?.destroySoon();
  }

  /** Sends RST once what was written has had time to leave. */
  async reset(): Promise<void> {
    await this.sleep(20);
    this.#broken = true;
    this.#response.socket?.resetAndDestroy();
  }

  #pause(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === null || ms === Infinity ? undefined : setTimeout(() => this.#wake?.(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = null;
        resolve();
      };
    });
  }
}
