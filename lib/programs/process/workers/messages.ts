import { Socket } from 'node:net';

/** From the primary to a worker: stop, as all workers do; or a client's connection, which is attached. */
export type ToWorker = { readonly gateway: 'stop' } | { readonly gateway: 'connection'; readonly id: number };

/** From a worker: it serves; it takes no more connections; it has received that connection. */
export type ToPrimary =
  | { readonly gateway: 'ready' | 'closing' }
  | { readonly gateway: 'accepted'; readonly id: number };

/** Only our processes write on the channel, and libraries with their own messages. */
function isWord(message: unknown): message is { readonly gateway: string } {
  return typeof message === 'object' && message !== null && 'gateway' in message;
}

/** In the primary: whether a worker's message is one of these. */
export function isToPrimary(message: unknown): message is ToPrimary {
  return isWord(message);
}

/** In a worker: listens to the primary; the socket is null if its client is gone. */
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
