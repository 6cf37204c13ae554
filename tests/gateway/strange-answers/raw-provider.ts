import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** What a provider writes to a connection once a request has come whole. */
export type Script = (socket: Socket, request: string) => void;

/** A provider that writes bytes which no HTTP server would. */
export interface RawProvider {
  /** Its versioned root. */
  readonly url: string;
  /** The script of the requests whose text holds this name. */
  on(name: string, script: Script): void;
  /** The script of requests whose beginning holds this name; no more of them is read. */
  onBeginning(name: string, script: Script): void;
  close(): Promise<void>;
}

export async function startRawProvider(): Promise<RawProvider> {
  const scripts = new Map<string, Script>();
  const early = new Map<string, Script>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let text = '';
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      const [, first] = [...early].find(([name]) => text.includes(name)) ?? [];
      if (first) {
        socket.pause();
        first(socket, text);
        return;
      }
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0);
      if (head < 0 || text.length < head + 4 + length) return;
      const request = text.slice(0, head + 4 + length);
      text = text.slice(head + 4 + length);
      const [, script] = [...scripts].find(([name]) => request.includes(name)) ?? [];
      script?.(socket, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    on: (name, script) => {
      scripts.set(name, script);
    },
    onBeginning: (name, script) => {
      early.set(name, script);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An answer in one write. */
export function wholeAnswer(status: string, body: string | Buffer, more: readonly string[] = []): Buffer {
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    ...more,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}

/** The head of a stream that is sent in chunks. */
export function streamHead(more: readonly string[] = []): string {
  const head = ['HTTP/1.1 200 OK', 'content-type: text/event-stream', ...more, 'transfer-encoding: chunked'];
  return `${head.join('\r\n')}\r\n\r\n`;
}

export function chunkOf(bytes: string | Buffer): Buffer {
  const size = Buffer.byteLength(bytes).toString(16);
  return Buffer.concat([Buffer.from(`${size}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);
}

export const lastChunk = '0\r\n\r\n';
