import { Socket } from 'node:net';

/** From the primary to a worker: stop in order, as all do; or a client's connection, which comes along. */
export type ToWorker = { readonly gateway: 'stop' } | { readonly gateway: 'connection'; readonly id: number };

/** From a worker: it serves; it takes no more connections; it has that connection. */
export type ToPrimary =
  | { readonly gateway: 'ready' | 'closing' }
  | { readonly gateway: 'accepted'; readonly id: number };

/** Only our own processes write on the channel, and libraries that know nothing of these words. */
function isWord(message: unknown): message is { readonly gateway: string } {
  return typeof message === 'object' && message !== null && 'gateway' in message;
}

export function isToPrimary(message: unknown): message is ToPrimary {
  return isWord(message);
}

/** In a worker: what the primary says; the socket is missing when its client is gone. */
export function hearPrimary(listener: (word: ToWorker, socket: Socket | null) => void): void {
  process.on('message', (message: unknown, handle: unknown) => {
    if (isToWorker(message)) listener(message, handle instanceof Socket ? handle : null);
  });
}

function isToWorker(message: unknown): message is ToWorker {
  return isWord(message);
}

export function tellPrimary(word: ToPrimary): void {
  if (process.connected) process.send?.(word);
}
