import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Arrival, HeaderList, Reply } from '#lib/gateway/lane';
import { createNodeBody } from '#lib/gateway/node-body';
import type { Runtime } from '#lib/gateway/runtime';
import { serve } from '#lib/gateway/serve';

/** The fast lane: the pipeline on plain `node:http`, in front of Next. */
export function nodeLane(runtime: Runtime, request: IncomingMessage, response: ServerResponse): void {
  const body = createNodeBody(request, runtime.bodies);
  const reply = nodeReply(response, body.finishDrop);
  const arrival: Arrival = {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: request.headers as Arrival['headers'],
    body,
    onGone: (listener) => {
      if (response.destroyed && !response.writableFinished) listener();
      else response.once('close', () => response.writableFinished || listener());
    },
  };
  serve(runtime, arrival, reply)
    .catch((error: unknown) => {
      runtime.report(error, null);
      response.destroy();
    })
    .finally(body.release);
}

/** Whether a request target belongs to the gateway rather than to the console. */
export function isGatewayTarget(target: string): boolean {
  return /^(?!\/)|^\/+(?:\.{1,2}\/+)*v1(?:beta|alpha)?(?:[/?%#]|$)/.test(target);
}

function nodeReply(response: ServerResponse, finishDrop: () => Promise<void> | null): Reply {
  return {
    start: (status, headers: HeaderList) => {
      if (!response.headersSent) response.writeHead(status, headers);
    },
    write: (chunk) => response.write(chunk),
    onDrain: (listener) => {
      response.removeAllListeners('drain');
      response.on('drain', listener);
    },
    end: (last) => {
      const dropping = finishDrop();
      if (dropping === null) {
        response.end(last);
        return;
      }
      // The client must be able to read the answer while it still sends: end only after the drop.
      if (last !== undefined && last.length > 0) response.write(last);
      void dropping.then(() => response.end());
    },
    cut: () => {
      const socket = response.socket;
      if (!socket || !response.headersSent) response.destroy();
      // Node corks the first write until the next tick: only then is there something to flush.
      else setImmediate(() => socket.destroySoon());
    },
  };
}
