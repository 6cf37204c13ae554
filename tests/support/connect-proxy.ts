import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** An HTTP proxy: tunnels with CONNECT, and plain requests with absolute URLs. */
export interface ConnectProxy {
  readonly url: string;
  /** "CONNECT host:port", or "GET http://…", in the order of arrival. */
  readonly asked: string[];
  /** Proxy-Authorization of the newest request; null: none. */
  authorization(): string | null;
  /** How CONNECT is answered from now on: with a tunnel, with 403, or not at all. */
  answer(how: 'tunnel' | 'refuse' | 'silence'): void;
  /** Sends tunnels for this host to this port instead. */
  lead(host: string, port: number): void;
  close(): Promise<void>;
}

export async function startConnectProxy(): Promise<ConnectProxy> {
  const asked: string[] = [];
  const places = new Map<string, number>();
  const sockets = new Set<Socket>();
  let authorization: string | null = null;
  let how: 'tunnel' | 'refuse' | 'silence' = 'tunnel';
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
  };
  const server = createServer((from, to) => {
    asked.push(`${from.method} ${from.url}`);
    authorization = from.headers['proxy-authorization'] ?? null;
    const { 'proxy-authorization': _, ...headers } = from.headers;
    const onward = request(from.url ?? '', { method: from.method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    from.pipe(onward);
  });
  server.on('connection', keep);
  server.on('connect', (from, socket: Socket, rest: Buffer) => {
    asked.push(`CONNECT ${from.url}`);
    authorization = from.headers['proxy-authorization'] ?? null;
    if (how === 'silence') return;
    if (how === 'refuse') {
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    const { hostname, port } = new URL(`http://${from.url}`);
    const led = places.get(hostname);
    const onward = connect(led ?? Number(port || 80), led === undefined ? hostname : '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(rest);
      socket.pipe(onward).pipe(socket);
    });
    keep(onward);
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    authorization: () => authorization,
    answer: (next) => {
      how = next;
    },
    lead: (host, port) => places.set(host, port),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
