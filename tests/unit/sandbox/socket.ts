import { connect } from 'node:net';
import { record } from '#tools/sandbox/content/tool-call';

/** One answer as the bytes on the wire tell it. */
export interface Wire {
  readonly head: string;
  readonly body: Buffer;
  /** How the connection went: FIN, RST, or still open when `stopWhen` was satisfied. */
  readonly closed: 'fin' | 'reset' | 'open';
  readonly ms: number;
}

/** Posts a chat request over a raw socket; reads until the connection closes or `stopWhen` holds. */
export function post(
  origin: string,
  body: Record<string, unknown>,
  stopWhen: (text: string) => boolean = () => false,
  headers: Record<string, string> = {},
): Promise<Wire> {
  const { hostname, port } = new URL(origin);
  const text = JSON.stringify({ messages: [{ role: 'user', content: 'Hello there' }], ...body });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const startMs = performance.now();
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const parts: Buffer[] = [];
    const finish = (closed: Wire['closed']) => {
      socket.destroy();
      const all = Buffer.concat(parts);
      const at = all.indexOf('\r\n\r\n');
      resolve({
        head: all.subarray(0, Math.max(0, at)).toString(),
        body: all.subarray(at < 0 ? all.length : at + 4),
        closed,
        ms: performance.now() - startMs,
      });
    };
    socket.on('data', (part) => {
      parts.push(part);
      if (stopWhen(Buffer.concat(parts).toString())) finish('open');
    });
    socket.on('end', () => finish('fin'));
    socket.on('error', () => finish('reset'));
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  });
}

/** The body of a chunked answer without its chunk framing; a torn last chunk is kept. */
export function unchunk(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < body.length) {
    const eol = body.indexOf('\r\n', at);
    if (eol < 0) break;
    const size = Number.parseInt(body.subarray(at, eol).toString(), 16);
    if (size === 0) break;
    parts.push(body.subarray(eol + 2, eol + 2 + size));
    at = eol + 2 + size + 2;
  }
  return Buffer.concat(parts);
}

/** The JSON payloads of a stream's events, without [DONE]. */
export function events(text: string): Record<string, unknown>[] {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data: {'));
  return lines.map((line) => record(JSON.parse(line.slice(6))));
}

/** True once a chunked body has its last chunk. */
export function ended(text: string): boolean {
  return text.endsWith('0\r\n\r\n');
}

/** Chunks that carry text. */
export function contents(text: string): string[] {
  return events(text).flatMap((event) => {
    const [choice] = Array.isArray(event.choices) ? event.choices : [];
    const { content } = record(record(choice).delta);
    return typeof content === 'string' && content !== '' ? [content] : [];
  });
}
