import { createServer } from 'node:net';
import type { Env } from '#lib/env';

/** Something else listens where the gateway is to. */
export class PortTaken extends Error {
  constructor({ host, port }: Pick<Env, 'host' | 'port'>) {
    super(`Port ${port} of ${host} is in use: stop what listens there, or set another PORT.`);
    this.name = 'PortTaken';
  }
}

/**
 * Tries the listener's address. Before anything is made: a first run shows its key only once it listens.
 * @throws PortTaken, or why the address cannot be had at all.
 */
export async function checkPort(env: Pick<Env, 'host' | 'port'>): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortTaken(env) : error),
    );
    probe.listen(env.port, env.host, () => probe.close(() => resolve()));
  });
}
