import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

export interface Turns {
  /** Serves a request now, or after those that came before it on its connection. */
  readonly take: Serve;
  /**
   * Answers that run and whose headers have not gone out say `Connection: close`, so that no proxy keeps the connection
   * for another call. One that did not say so is not closed behind its answer: the next call may be on its way.
   */
  closeAfterAnswers(): void;
  /** Whether an answer to this connection is running, or not yet with the kernel. */
  isAnswering(socket: Socket): boolean;
}

interface Turn {
  readonly response: ServerResponse;
  /** Those that wait for it. */
  readonly queue: [IncomingMessage, ServerResponse][];
}

/** So many may wait on one connection, and on all of them together: each is a hundred times what it was on the wire. */
const usual = { mostOfOne: 1_000, mostOfAll: 20_000 };

/**
 * Begins requests that a client sends on one connection without waiting for answers one after the other, each in a
 * turn of the event loop of its own (contract: request/pipelining). Begun all at once, hundreds that come in one packet
 * would hold up everybody else's until the last of them is answered. A connection on which too many wait is closed:
 * Node would read on, and whoever sends faster than we answer would fill the memory.
 */
export function inTurn(serve: Serve, { mostOfOne, mostOfAll } = usual): Turns {
  const turns = new Map<Socket, Turn>();
  let all = 0;

  const begin = (
    socket: Socket,
    queue: Turn['queue'],
    request: IncomingMessage,
    response: ServerResponse,
  ) => {
    turns.set(socket, { response, queue });
    response.once('close', () => {
      // What waits behind an answer that closes its connection has nowhere to be answered.
      if (isClosing(socket)) all -= queue.splice(0).length;
      const next = queue.shift();
      if (next === undefined) {
        turns.delete(socket);
        return;
      }
      all -= 1;
      setImmediate(begin, socket, queue, ...next);
    });
    serve(request, response);
  };

  const take: Serve = (request, response) => {
    const { socket } = request;
    // The rest of a packet is still read when its connection was closed.
    if (isClosing(socket)) return;
    const queue = turns.get(socket)?.queue;
    if (queue === undefined) {
      begin(socket, [], request, response);
    } else if (queue.length >= mostOfOne || all >= mostOfAll) {
      socket.destroy();
    } else {
      all += 1;
      queue.push([request, response]);
    }
  };
  const closeAfterAnswers = () => {
    for (const { response } of turns.values())
      if (!response.headersSent) response.setHeader('connection', 'close');
  };
  return { take, closeAfterAnswers, isAnswering: (socket) => turns.has(socket) };
}

/** Node ends a connection right after an answer that says `Connection: close`. */
function isClosing(socket: Socket): boolean {
  return socket.destroyed || socket.writableEnded;
}
