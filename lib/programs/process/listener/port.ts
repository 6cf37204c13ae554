import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import type { Env } from '#lib/platform/env/env';
import { OperatorError } from '#lib/platform/operator-error';

type Place = Pick<Env, 'host' | 'port'>;

/** Time limit for connecting to a machine's own address, ms. */
const LOOK_MS = 1_000;

/** What to change, by the code of the error. */
const remedies: Readonly<Record<string, (place: Place) => string>> = {
  EADDRINUSE: ({ host, port }) =>
    `PORT: ${port} is already in use on ${host}. Stop the program that uses it, or set another PORT.`,
  EACCES: ({ port }) => `PORT: this user is not allowed to use port ${port}. Set one above 1023.`,
  EADDRNOTAVAIL: ({ host }) =>
    `HOST: ${host} is not an address of this machine. Set one that is, or 0.0.0.0 for all of them.`,
};

/**
 * Checks whether the listener's address is free, before anything is created: a first run shows its key only once it
 * listens. The check does not listen itself: a connection during it would be reset, and a proxy does not repeat its
 * call.
 * @throws OperatorError.
 */
export async function checkPort(env: Place): Promise<void> {
  if (env.port === 0) return;
  await bindDatagrams(env);
  if (await answers(env)) throw refused(env, Object.assign(new Error(), { code: 'EADDRINUSE' }));
}

function refused(place: Place, { code = '', message }: NodeJS.ErrnoException): OperatorError {
  const other = `HOST: the gateway cannot listen on ${place.host} (${message}). Set another HOST.`;
  return new OperatorError(remedies[code]?.(place) ?? other);
}

/** UDP has the same rules for addresses and for ports below 1024 as TCP. Another program's UDP port does not matter. */
async function bindDatagrams(env: Place): Promise<void> {
  const { address, family } = await lookup(env.host).catch((error) => {
    throw refused(env, error);
  });
  const probe = createSocket(family === 6 ? 'udp6' : 'udp4');
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve() : reject(refused(env, error)),
    );
    probe.bind({ port: env.port, address, exclusive: true }, resolve);
  }).finally(() => probe.close());
}

/** Whether a program accepts connections there. */
function answers({ host, port }: Place): Promise<boolean> {
  const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return new Promise((resolve) => {
    const socket = connect({ host: local, port, timeout: LOOK_MS });
    const end = (found: boolean) => {
      socket.destroy();
      resolve(found);
    };
    // A port in the system's own range may connect to itself.
    socket.once('connect', () => end(socket.localPort !== port));
    socket.once('error', () => end(false)).once('timeout', () => end(false));
  });
}
