import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One HTTP/1.1 answer, parsed from the bytes on the wire. */
export interface Wire {
  readonly status: number;
  /** The reason phrase. */
  readonly reason: string;
  /** Lower-case names, in order, including repeated ones. */
  readonly headers: readonly (readonly [string, string])[];
  /** Without chunk framing; as much as arrived. */
  readonly body: Buffer;
  /** Its framing ended as announced: last chunk, full length, or FIN if neither was given. */
  readonly whole: boolean;
}

/** The answers on a connection until it ended or there were enough. */
export interface Talk {
  readonly answers: readonly Wire[];
  /** open: we stopped reading; late: nothing ended within the time. */
  readonly end: 'fin' | 'reset' | 'open' | 'late';
  readonly ms: number;
}

export interface TalkOptions {
  /** Stops after this many complete answers; default 1. Infinity: until the connection closes. */
  readonly answers?: number;
  /** Leaves, as a client that hangs up, once this is true of what has arrived. */
  readonly leaveWhen?: (raw: string) => boolean;
  /** Leaves once this has settled. */
  readonly leaveAfter?: Promise<unknown>;
  /** Called once the body has begun; the client leaves when it settles. */
  readonly during?: () => Promise<unknown>;
  /** Time limit, ms; default 180,000. */
  readonly patienceMs?: number;
  /** Writes more once the connection is open and the first piece has been written. */
  readonly afterwards?: (socket: Socket) => void;
}

/** Writes bytes, waits, and resets the connection, as a client that crashes. */
export async function resetAfter(url: string, bytes: Buffer, waitMs: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  const closed = once(socket, 'close');
  socket.resetAndDestroy();
  await closed;
}

/** The end of a chunked body. */
const lastChunk = Buffer.from('0\r\n\r\n');

/** Writes bytes to a gateway unchanged and reads what comes back, without a client library. */
export function talk(url: string, bytes: string | Buffer, options: TalkOptions = {}): Promise<Talk> {
  const { hostname, port } = new URL(url);
  const { answers: wanted = 1, leaveWhen, patienceMs = 180_000 } = options;
  const startMs = performance.now();
  const parts: Buffer[] = [];
  const bodyless = String(bytes.slice(0, 5)) === 'HEAD ';
  const read = (closed: boolean) => readAnswers(Buffer.concat(parts), closed, bodyless);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let raw = '';
    let size = 0;
    let begun: Promise<unknown> | undefined;
    let looking: NodeJS.Timeout | null = null;
    const look = () => {
      looking = null;
      const got = read(false);
      if (got.length >= wanted && got.every((answer) => answer.whole)) finish('open');
    };
    const finish = (end: Talk['end']) => {
      clearTimeout(timer);
      if (looking) clearTimeout(looking);
      socket.removeAllListeners().on('error', () => {});
      socket.destroy();
      resolve({ answers: read(end === 'fin'), end, ms: performance.now() - startMs });
    };
    const timer = setTimeout(() => finish('late'), patienceMs);
    options.leaveAfter?.then(() => finish('open'), reject);
    socket.on('connect', () => {
      socket.write(bytes);
      options.afterwards?.(socket);
    });
    socket.on('data', (part) => {
      parts.push(part);
      size += part.length;
      if (options.during) {
        begun ??= read(false)[0]?.body.length ? options.during().finally(() => finish('open')) : undefined;
        begun?.catch(() => {});
        return;
      }
      if (leaveWhen) {
        raw += part.toString('latin1');
        if (leaveWhen(raw)) finish('open');
        return;
      }
      // Checking all of the framing for each packet would be quadratic.
      if (size === part.length || part.subarray(-5).equals(lastChunk)) look();
      else looking ??= setTimeout(look, 20 + size / 50_000);
    });
    socket.on('end', () => finish('fin'));
    socket.on('error', () => finish('reset'));
  });
}

/** The text of a request; a body gets a Content-Length unless `headers` frame it otherwise. */
export function requestText(
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer = '',
): Buffer {
  const given = Object.keys(headers).map((name) => name.toLowerCase());
  const framed = given.includes('content-length') || given.includes('transfer-encoding') || body.length === 0;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(given.includes('host') ? [] : ['Host: gateway.test']),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(framed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}

/** First value of a header; undefined if it is absent. */
export function headerOf(answer: Wire, name: string): string | undefined {
  return answer.headers.find(([key]) => key === name)?.[1];
}

/**
 * Splits bytes into answers; the last one may be incomplete.
 * @param closed FIN arrived, which ends a body without framing.
 * @param bodyless answers to HEAD: their length describes a body that is not sent.
 */
function readAnswers(bytes: Buffer, closed: boolean, bodyless: boolean): Wire[] {
  const answers: Wire[] = [];
  let at = 0;
  while (at < bytes.length) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd < 0) break;
    const [line = '', ...rest] = bytes.toString('latin1', at, headEnd).split('\r\n');
    const [, code = '', ...words] = line.split(' ');
    const status = Number(code);
    const reason = words.join(' ');
    const headers = rest.map((text): [string, string] => {
      const colon = text.indexOf(':');
      return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()];
    });
    at = headEnd + 4;
    if (status === 100) continue;
    const value = (name: string) => headers.find(([key]) => key === name)?.[1];
    const length = value('content-length');
    // These have no body, whatever length they announce.
    if (bodyless || status === 204 || status === 304) {
      answers.push({ status, reason, headers, body: Buffer.alloc(0), whole: true });
    } else if (value('transfer-encoding') === 'chunked') {
      const read = unchunk(bytes, at);
      answers.push({ status, reason, headers, body: read.body, whole: read.whole });
      at = read.end;
    } else if (length !== undefined) {
      const body = bytes.subarray(at, at + Number(length));
      answers.push({ status, reason, headers, body, whole: body.length === Number(length) });
      at += Number(length);
    } else {
      answers.push({ status, reason, headers, body: bytes.subarray(at), whole: closed });
      break;
    }
  }
  return answers;
}

function unchunk(bytes: Buffer, from: number): { body: Buffer; whole: boolean; end: number } {
  const parts: Buffer[] = [];
  let at = from;
  for (;;) {
    const eol = bytes.indexOf('\r\n', at);
    const size = eol < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, eol), 16);
    if (Number.isNaN(size)) return { body: Buffer.concat(parts), whole: false, end: bytes.length };
    if (size === 0) {
      const whole = bytes.length >= eol + 4;
      return { body: Buffer.concat(parts), whole, end: eol + 4 };
    }
    parts.push(bytes.subarray(eol + 2, eol + 2 + size));
    at = eol + 2 + size + 2;
  }
}
