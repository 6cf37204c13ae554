import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Connections on which no request has come yet, as clients open them ahead of need. Node does not count
 * them as idle: without this a stop would wait for them until its patience ends.
 */
export function trackSilent(server: Server): { end(): void } {
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', (request) => silent.delete(request.socket));
  return {
    end: () => {
      for (const socket of silent) socket.destroy();
    },
  };
}
