import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can be switched off, to make a database or a provider unavailable for a time. */
export interface TcpProxy {
  readonly port: number;
  /** Breaks every connection, and resets new ones until `restore`. */
  cut(): void;
  /** Accepts connections but does not answer, on existing ones too. */
  freeze(): void;
  restore(): void;
  /** Existing connections get no more answers, as if a router forgot them; new ones work. */
  strand(): void;
  close(): Promise<void>;
}

/**
 * @param target host and port to which connections are passed on.
 * @param watch called for each new connection; gets the bytes that its client sends.
 */
export async function tcpProxy(
  target: { host: string; port: number },
  watch?: () => (bytes: Buffer) => void,
): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let state: 'on' | 'off' | 'frozen' = 'on';
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
  };
  const server = createServer((client) => {
    keep(client);
    if (state === 'off') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(target.port, target.host);
    keep(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    if (watch) client.on('data', watch());
    client.pipe(upstream);
    upstream.pipe(client);
    if (state === 'frozen') client.pause();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
  const breakAll = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    port: address.port,
    cut: () => {
      state = 'off';
      breakAll();
    },
    freeze: () => {
      state = 'frozen';
      for (const socket of open) socket.unpipe().pause();
    },
    strand: () => {
      for (const socket of open) socket.unpipe().pause();
    },
    restore: () => {
      // Frozen connections are of no more use.
      if (state === 'frozen') breakAll();
      state = 'on';
    },
    close: async () => {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };
}
