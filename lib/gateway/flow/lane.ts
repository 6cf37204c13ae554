/**
 * What the pipeline sees of a connection (contract: durability/lanes): neither Next nor Node's HTTP objects. The node
 * lane and the web lane each make one `Arrival` and one `Reply` per request.
 */
export interface Arrival {
  readonly method: string;
  /** Raw request target as sent: "/v1/chat/completions?x=1". */
  readonly target: string;
  /** Lower-case names; repeated ones joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: BodySource;
  /** Only prepares what follows: it is answered without a provider (contract: sockets/warm-up). */
  readonly warmUp?: boolean;
  /** It came over a WebSocket, or asks for one (contract: realtime/session). */
  readonly inSession?: boolean;
  /** What it is for has begun at the provider: limits count it, and do not refuse it (contract: realtime/limits). */
  readonly begun?: boolean;
  /** Calls back once if the client leaves before the reply has ended; at once if it has already left. */
  onGone(listener: () => void): void;
}

export interface BodySource {
  /**
   * Whether the body exceeds 256 KiB. Of a body of unknown length, that much is read to find out, and no more.
   * @throws Refused as `read`.
   */
  large(): boolean | Promise<boolean>;
  /**
   * Reads the whole body.
   * @param limit bytes; more is refused while reading.
   * @param keyId the key whose share of the body budget a large body counts against.
   * @throws Refused with `invalid_body`: over the limit, cut short, bad length, stalled for 30 s, or large
   * and slower than 64 KiB/s; `local_quota_not_configured`: no room in the body budget for 10 s.
   */
  read(limit: number, keyId: string): Promise<Uint8Array>;
  /**
   * Passes the body on piece by piece instead; the next piece is read when `take` is done with the last.
   * @param limit bytes; more is refused while reading.
   * @param keyId as for `read`: a compressed body takes memory while it is decoded.
   * @throws Refused as `read`; whatever `take` throws.
   */
  pour(limit: number, take: (chunk: Uint8Array) => Promise<void>, keyId: string): Promise<void>;
  /** The body was sent: returns its memory to the budget. What `read` returned must not be used afterwards. */
  free(): void;
  /** Calls back when the call is over, however it ended: the body is no longer needed. */
  onRelease(listener: () => void): void;
  /** The request is refused before its body was read: drop up to 1 MiB or 1 s of it, then close. */
  drop(): void;
}

/** Name, value, name, value …: lower-case names, each once. Node's `writeHead` accepts it as it is. */
export type HeaderList = string[];

/** @param name in lower case. */
export function hasHeader(headers: HeaderList, name: string): boolean {
  return headers.some((text, at) => at % 2 === 0 && text === name);
}

/** Where the answer goes. `start` once, then `write`s, then exactly one of `end` and `cut`. */
export interface Reply {
  /** @param reason the HTTP/1.1 reason phrase, printable ASCII; the status's own when left out. */
  start(status: number, headers: HeaderList, reason?: string): void;
  started(): boolean;
  /** False when the client is slower than we are: wait for `onDrain` before the next one. */
  write(chunk: Uint8Array): boolean;
  /** Calls back whenever writing may go on; one listener, the last one set. */
  onDrain(listener: () => void): void;
  end(last?: Uint8Array | string): void;
  /** Flushes what was written, then closes without the last chunk: the client gets a broken body. */
  cut(): void;
}
