import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Begins requests that a client sends on one connection without waiting for answers one after the other, each in a
 * turn of the event loop of its own (contract: request/pipelining). Begun all at once, hundreds that come in one packet
 * would hold up everybody else's until the last of them is answered.
 */
export function inTurn(serve: Serve): Serve {
  /** By connection, those that wait for the one being answered. */
  const waiting = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();

  const begin = (socket: Socket, request: IncomingMessage, response: ServerResponse) => {
    response.once('close', () => {
      const next = waiting.get(socket)?.shift();
      if (next === undefined || socket.destroyed) waiting.delete(socket);
      else setImmediate(begin, socket, ...next);
    });
    serve(request, response);
  };

  return (request, response) => {
    const { socket } = request;
    const queue = waiting.get(socket);
    if (queue !== undefined) {
      queue.push([request, response]);
      return;
    }
    waiting.set(socket, []);
    begin(socket, request, response);
  };
}
