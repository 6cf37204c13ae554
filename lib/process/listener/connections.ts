import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, those that a worker was handed too. */
export interface Connections {
  /**
   * Ends those on which no request has come yet, as clients open them ahead of need: Node does not count them as idle,
   * and a stop would wait for them until its patience ends.
   */
  endSilent(): void;
  /** Resolves once none is open. */
  gone(): Promise<void>;
}

export function trackConnections(server: Server): Connections {
  const open = new Set<Socket>();
  const silent = new Set<Socket>();
  let whenGone: (() => void) | null = null;
  server.on('connection', (socket) => {
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
      if (open.size === 0) whenGone?.();
    });
  });
  server.on('request', (request) => silent.delete(request.socket));
  return {
    endSilent: () => {
      for (const socket of silent) socket.destroy();
    },
    gone: () =>
      new Promise((resolve) => {
        whenGone = resolve;
        if (open.size === 0) resolve();
      }),
  };
}
