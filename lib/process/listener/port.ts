import { createServer } from 'node:net';
import type { Env } from '#lib/env';

type Place = Pick<Env, 'host' | 'port'>;

const remedies: Readonly<Record<string, (place: Place) => string>> = {
  EADDRINUSE: ({ host, port }) =>
    `Port ${port} of ${host} is in use: stop what listens there, or set another PORT.`,
  EACCES: ({ port }) => `PORT: ${port} needs rights that this user does not have. Set one above 1023.`,
  EADDRNOTAVAIL: ({ host }) =>
    `HOST: ${host} is no address of this machine. Set one that is; 0.0.0.0 is all of them.`,
};

/** The gateway cannot listen where its settings say; the message says what to change. */
export class ListenRefused extends Error {
  constructor(place: Place, cause: NodeJS.ErrnoException) {
    const remedy = remedies[cause.code ?? ''];
    super(
      remedy?.(place) ?? `HOST: nothing can listen on ${place.host} (${cause.message}). Set another HOST.`,
    );
    this.name = 'ListenRefused';
  }
}

/**
 * Tries the listener's address. Before anything is made: a first run shows its key only once it listens.
 * @throws ListenRefused.
 */
export async function checkPort(env: Place): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) => reject(new ListenRefused(env, error)));
    probe.listen(env.port, env.host, () => probe.close(() => resolve()));
  });
}
