import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

interface Turn {
  readonly response: ServerResponse;
  /** Requests that wait for it. */
  readonly queue: [IncomingMessage, ServerResponse][];
}

/**
 * How many requests may wait on one connection, and in all: each takes a hundred times its size on the wire.
 */
const usual = { mostOfOne: 1_000, mostOfAll: 20_000 };

/**
 * Serves pipelined requests of a connection one after the other, each in its own turn of the event loop
 * (contract: request/pipelining). Started all at once, hundreds of requests in one packet would delay all other clients
 * until the last of them is answered. A connection on which too many wait is closed, because Node would read on, and a
 * client that sends faster than we answer would fill the memory.
 */
export function inTurn(serve: Serve, { mostOfOne, mostOfAll } = usual) {
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
      // Requests behind an answer that closes its connection cannot be answered.
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

  /** Serves a request now, or after those that came before it on its connection. */
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
  /**
   * Running answers whose headers have not been sent say `Connection: close`, so that no proxy keeps the connection for
   * another call. Without it, a connection is not closed after its answer, because the next call may be on its way.
   */
  const closeAfterAnswers = () => {
    for (const { response } of turns.values())
      if (!response.headersSent) response.setHeader('connection', 'close');
  };
  /** Whether an answer to this connection is running, or not yet with the kernel. */
  const isAnswering = (socket: Socket) => turns.has(socket);
  return { take, closeAfterAnswers, isAnswering };
}

/** Node ends a connection right after an answer that says `Connection: close`. */
function isClosing(socket: Socket): boolean {
  return socket.destroyed || socket.writableEnded;
}
