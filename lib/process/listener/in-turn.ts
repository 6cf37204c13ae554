import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** So many may wait on one connection, and on all of them together: each is a hundred times what it was on the wire. */
const usual = { mostOfOne: 1_000, mostOfAll: 20_000 };

/**
 * Begins requests that a client sends on one connection without waiting for answers one after the other, each in a
 * turn of the event loop of its own (contract: request/pipelining). Begun all at once, hundreds that come in one packet
 * would hold up everybody else's until the last of them is answered. A connection on which too many wait is closed:
 * Node would read on, and whoever sends faster than we answer would fill the memory.
 */
export function inTurn(serve: Serve, { mostOfOne, mostOfAll } = usual): Serve {
  /** By connection, those that wait for the one being answered. */
  const waiting = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();
  let all = 0;

  const begin = (socket: Socket, request: IncomingMessage, response: ServerResponse) => {
    response.once('close', () => {
      const queue = waiting.get(socket) ?? [];
      if (socket.destroyed) all -= queue.splice(0).length;
      const next = queue.shift();
      if (next === undefined) {
        waiting.delete(socket);
        return;
      }
      all -= 1;
      setImmediate(begin, socket, ...next);
    });
    serve(request, response);
  };

  return (request, response) => {
    const { socket } = request;
    // The rest of a packet is still read when its connection was closed.
    if (socket.destroyed) return;
    const queue = waiting.get(socket);
    if (queue === undefined) {
      waiting.set(socket, []);
      begin(socket, request, response);
    } else if (queue.length >= mostOfOne || all >= mostOfAll) {
      socket.destroy();
    } else {
      all += 1;
      queue.push([request, response]);
    }
  };
}
