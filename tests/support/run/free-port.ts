import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux uses for outgoing connections: one of those could take the port of a server that
 * is being restarted, even the connection of a client that tries to reach this very server.
 */
const range = { first: 12_000, count: 20_000 };

/**
 * A port on which nothing listens, and which no other process of the tests gets while this one lives: each is
 * marked by a datagram socket with the same number.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = range.first + Math.floor(Math.random() * range.count);
    if ((await isMarked(port)) && (await isFree(port))) return port;
  }
  throw new Error(`no free port from ${range.first} on: end what listens there`);
}

/** @returns false if another process has marked it. */
async function isMarked(port: number): Promise<boolean> {
  const mark = createSocket('udp4').unref();
  mark.bind({ address: '127.0.0.1', port, exclusive: true });
  return once(mark, 'listening').then(
    () => true,
    () => {
      mark.close();
      return false;
    },
  );
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const free = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  await new Promise((resolve) => server.close(resolve));
  return free;
}
