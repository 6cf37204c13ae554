import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Arrival, HeaderList, Reply } from '#lib/gateway/lane';
import { createNodeBody, type NodeBody } from '#lib/gateway/node-body';
import type { Runtime } from '#lib/gateway/runtime';
import { serve } from '#lib/gateway/serve';

/** The fast lane: the pipeline on plain `node:http`, in front of Next. */
export function nodeLane(runtime: Runtime, request: IncomingMessage, response: ServerResponse): void {
  const body = createNodeBody(request, runtime.bodies, runtime.limits.bodyStallMs);
  const reply = nodeReply(response, body);
  const arrival: Arrival = {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: request.headers as Arrival['headers'],
    body,
    onGone: (listener) => onGone(request, response, listener),
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
  return /^(?!\/)|^\/+(?:\.{1,2}\/+)*v1(?:beta|alpha)?(?:[/?%#\\]|$)/.test(target);
}

const routedMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH']);

/**
 * Whether Next hands a request to its route as it came. It answers, redirects or rewrites others by
 * itself: methods that it does not know, doubled slashes, dot segments, escapes that are none.
 */
export function reachesRoutes({ method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  const path = url.split('?', 1)[0] ?? '';
  if (!routedMethods.has(method) || !path.startsWith('/')) return false;
  return !/\/\/|[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path) && isDecodable(path);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** A pipelined answer that waits for its turn has no socket yet, and so no `close`: the request's has. */
function onGone(request: IncomingMessage, response: ServerResponse, listener: () => void): void {
  const { socket } = request;
  const closed = () => {
    socket.removeListener('close', closed);
    response.removeListener('close', closed);
    if (!response.writableFinished) listener();
  };
  if (socket.destroyed) {
    closed();
    return;
  }
  if (response.socket === null) socket.setMaxListeners(0);
  socket.once('close', closed);
  response.once('close', closed);
}

function nodeReply(response: ServerResponse, body: NodeBody): Reply {
  return {
    start: (status, headers: HeaderList) => {
      if (response.headersSent) return;
      response.writeHead(status, body.unread() ? { ...headers, connection: 'close' } : headers);
    },
    started: () => response.headersSent,
    write: (chunk) => response.write(chunk),
    onDrain: (listener) => {
      response.removeAllListeners('drain');
      response.on('drain', listener);
    },
    end: (last) => {
      const dropping = body.finishDrop();
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
