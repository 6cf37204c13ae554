import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** How long after a connection its first request may come, ms. */
const FIRST_REQUEST_MS = 500;

/**
 * The connections of a server, including those handed to a worker.
 * @param isAnswering whether an answer to this connection is running.
 */
export function trackConnections(server: Server, isAnswering: (socket: Socket) => boolean) {
  const open = new Set<Socket>();
  /** With the moment at which each was opened, monotonic ms. */
  const silent = new Map<Socket, number>();
  let whenGone: (() => void) | null = null;
  server.on('connection', (socket) => {
    open.add(socket);
    silent.set(socket, performance.now());
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
      if (open.size === 0) whenGone?.();
    });
  });
  for (const event of ['request', 'checkExpectation', 'upgrade'] as const)
    server.on(event, (request: IncomingMessage) => silent.delete(request.socket));
  return {
    /**
     * Ends those that wait for a request. A connection without a first request gets half a second, because clients open
     * connections ahead of need. Node's own `closeIdleConnections` leaves these open, and cuts off answers that have
     * ended but are not with the kernel yet.
     */
    endIdle: () => {
      const untilMono = performance.now() - FIRST_REQUEST_MS;
      for (const socket of open) {
        const sinceMono = silent.get(socket) ?? Number.NEGATIVE_INFINITY;
        if (sinceMono <= untilMono && !isAnswering(socket)) socket.destroySoon();
      }
    },
    /** Resolves once none is open. */
    gone: () =>
      new Promise<void>((resolve) => {
        whenGone = resolve;
        if (open.size === 0) resolve();
      }),
  };
}
