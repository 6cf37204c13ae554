import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ReceivedRequest, Truth } from '#tools/sandbox/dialect';

/** How a request ended; `fault`: because of the fault that its model names. */
export type End = 'completed' | 'client_gone' | 'fault' | 'refused';

/** A request has arrived completely. */
export interface BeginLine {
  readonly seq: number;
  readonly event: 'begin';
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Credentials as "sha256:" and 16 hex digits of the header's value. */
  readonly headers: Readonly<Record<string, string>>;
  /** `x-attempt-id`, otherwise `traceparent`, otherwise null. */
  readonly attemptId: string | null;
  readonly bodyBytes: number;
  readonly bodySha256: string;
  /** Up to 64 KiB; only in memory, and only for the last 2,000 requests. */
  body?: string;
}

/** How a request ended, with the figures that a fair provider would charge. */
export interface EndLine extends Truth {
  readonly seq: number;
  readonly event: 'end';
  readonly id: string;
  readonly at: string;
  readonly family: string | null;
  readonly model: string | null;
  readonly fault: string | null;
  readonly stream: boolean;
  /** null: no status line was sent. */
  readonly status: number | null;
  readonly end: End;
  /** When the client left; null: it did not. */
  readonly abortedAt: string | null;
  readonly durationMs: number;
  /** Content chunks and body bytes given to the socket. */
  readonly chunksSent: number;
  readonly bytesSent: number;
  /** The last usage object sent, as sent; null: none. */
  readonly usageReported: unknown;
  /** The body's first 64 KiB as sent, base64; only in memory, and only for the last 2,000 requests. */
  sent?: string;
}

export type TruthLine = BeginLine | EndLine;

const mostLines = 20_000;
/** The most bodies in memory, for requests and for answers; fewer if they are large. */
const mostBodies = 2_000;
const mostBodiesBytes = 32 * 1024 * 1024;
const bodyBytesKept = 65_536;
const credentials = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'cookie']);

/** The append-only record of everything the simulated provider received and did: tests compare costs with it. */
export class TruthLog {
  readonly #lines: TruthLine[] = [];
  readonly #byId = new Map<string, TruthLine[]>();
  readonly #requests = new LatestBodies();
  readonly #answers = new LatestBodies();
  readonly #waiting = new Set<(line: TruthLine) => void>();
  readonly #file: string | null;
  #seq = 0;

  constructor(file: string | null) {
    this.#file = file;
    if (file) mkdirSync(dirname(file), { recursive: true });
  }

  begin(seen: ReceivedRequest): void {
    const { headers } = seen;
    const line: BeginLine = {
      seq: ++this.#seq,
      event: 'begin',
      id: seen.id,
      at: new Date(seen.atMs).toISOString(),
      method: seen.method,
      path: seen.path,
      query: seen.query.toString(),
      headers: Object.fromEntries(Object.entries(headers).map(hideCredential)),
      attemptId: headers['x-attempt-id'] ?? headers.traceparent ?? null,
      bodyBytes: seen.body.length,
      bodySha256: createHash('sha256').update(seen.body).digest('hex'),
    };
    this.#append(line, () => {
      line.body = seen.body.subarray(0, bodyBytesKept).toString('utf8');
    });
    this.#requests.add(line.body?.length ?? 0, () => delete line.body);
  }

  /** @param sent body bytes that were sent. */
  end(end: Omit<EndLine, 'seq' | 'event' | 'sent'>, sent: Buffer): void {
    const line: EndLine = { seq: ++this.#seq, event: 'end', ...end };
    this.#append(line, () => {
      line.sent = sent.toString('base64');
    });
    this.#answers.add(line.sent?.length ?? 0, () => delete line.sent);
  }

  /**
   * Lines after `since`; if there is none yet, the next one.
   * @param since a `seq`; 0: all stored lines (the last 20,000).
   * @param waitMs how long to wait; 0: not at all.
   * @param id only lines of this request; null: of all requests.
   */
  async read(
    since: number,
    fits: (line: TruthLine) => boolean,
    waitMs: number,
    id: string | null = null,
  ): Promise<TruthLine[]> {
    const wanted = (line: TruthLine) => line.seq > since && (id === null || line.id === id) && fits(line);
    const among = id === null ? this.#lines : (this.#byId.get(id) ?? []);
    const found = among.filter(wanted);
    return found.length > 0 || waitMs <= 0 ? found : this.#next(wanted, waitMs);
  }

  /** @param addBody adds what is not written to the file. */
  #append(line: TruthLine, addBody: () => void): void {
    this.#lines.push(line);
    const ofRequest = this.#byId.get(line.id);
    if (ofRequest) ofRequest.push(line);
    else this.#byId.set(line.id, [line]);
    if (this.#lines.length > mostLines) {
      for (const { id } of this.#lines.splice(0, mostLines / 10)) this.#forget(id);
    }
    if (this.#file) appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
    addBody();
    for (const tell of this.#waiting) tell(line);
  }

  /** Drops the oldest line of a request. */
  #forget(id: string): void {
    const ofRequest = this.#byId.get(id);
    ofRequest?.shift();
    if (ofRequest?.length === 0) this.#byId.delete(id);
  }

  #next(wanted: (line: TruthLine) => boolean, waitMs: number): Promise<TruthLine[]> {
    return new Promise((resolve) => {
      const end = (lines: TruthLine[]) => {
        clearTimeout(timer);
        this.#waiting.delete(tell);
        resolve(lines);
      };
      const tell = (line: TruthLine) => {
        if (wanted(line)) end([line]);
      };
      const timer = setTimeout(() => end([]), waitMs);
      this.#waiting.add(tell);
    });
  }
}

/** Drops the oldest bodies when there are too many. */
class LatestBodies {
  readonly #kept: { readonly size: number; readonly drop: () => void }[] = [];
  #size = 0;

  add(size: number, drop: () => void): void {
    this.#kept.push({ size, drop });
    this.#size += size;
    while (this.#kept.length > mostBodies || this.#size > mostBodiesBytes) {
      const oldest = this.#kept.shift();
      this.#size -= oldest?.size ?? 0;
      oldest?.drop();
    }
  }
}

function hideCredential([name, value]: [string, string]): [string, string] {
  if (!credentials.has(name)) return [name, value];
  return [name, `sha256:${createHash('sha256').update(value).digest('hex').slice(0, 16)}`];
}
