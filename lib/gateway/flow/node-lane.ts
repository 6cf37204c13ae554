import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Arrival, BodySource, HeaderList, Reply } from '#lib/gateway/flow/lane';
import { NodeBody } from '#lib/gateway/flow/node-body';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { serve } from '#lib/gateway/flow/serve';
import { decodedBody } from '#lib/gateway/flow/upload/coded-body';

const SHORT_BYTES = 16 * 1024;

/** The fast lane: the pipeline on plain `node:http`, in front of Next. */
export function nodeLane(runtime: Runtime, request: IncomingMessage, response: ServerResponse): void {
  const { bodies, limits } = runtime;
  const body = new NodeBody(request, bodies, limits.bodyPace);
  const decoded = decodedBody(body, request.headers['content-encoding'], bodies, limits.bodyPace);
  const over = () => body.release();
  serve(runtime, new NodeArrival(request, response, decoded), new NodeReply(response, body)).then(
    over,
    (error) => {
      runtime.report(error, null);
      response.destroy();
      over();
    },
  );
}

class NodeArrival implements Arrival {
  readonly method: string;
  readonly target: string;
  readonly headers: Arrival['headers'];
  readonly body: BodySource;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse, body: BodySource) {
    this.method = request.method ?? 'GET';
    this.target = request.url ?? '/';
    this.headers = request.headers as Arrival['headers'];
    this.body = body;
    this.#request = request;
    this.#response = response;
  }

  onGone(listener: () => void): void {
    const response = this.#response;
    const { socket } = this.#request;
    let told = false;
    const closed = () => {
      if (told || response.writableFinished) return;
      told = true;
      listener();
    };
    if (socket.destroyed) {
      closed();
      return;
    }
    response.on('close', closed);
    if (response.socket !== null) return;
    // A pipelined answer that waits for its turn has no socket yet, and so no `close`: the request's has.
    socket.setMaxListeners(0);
    socket.once('close', closed);
    response.once('close', () => socket.removeListener('close', closed));
  }
}

/** Every byte as the character of its number, which `latin1` writes as that byte again. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

class NodeReply implements Reply {
  readonly #response: ServerResponse;
  readonly #body: NodeBody;

  constructor(response: ServerResponse, body: NodeBody) {
    this.#response = response;
    this.#body = body;
  }

  start(status: number, headers: HeaderList, reason?: string): void {
    if (this.#response.headersSent) return;
    const sent = this.#body.unread() ? [...headers, 'connection', 'close'] : headers;
    if (reason === undefined) this.#response.writeHead(status, sent);
    else this.#response.writeHead(status, reason, sent);
  }

  started(): boolean {
    return this.#response.headersSent;
  }

  write(chunk: Uint8Array): boolean {
    return this.#response.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#response.removeAllListeners('drain');
    this.#response.on('drain', listener);
  }

  end(last?: Uint8Array | string): void {
    const response = this.#response;
    const dropping = this.#body.finishDrop();
    if (dropping === null) {
      // Node joins headers and a short text into one write; bytes would be a second one.
      if (last instanceof Uint8Array && last.length <= SHORT_BYTES) response.end(latin1(last), 'latin1');
      else response.end(last);
      return;
    }
    // The client must be able to read the answer while it still sends: end only after the drop.
    if (last !== undefined && last.length > 0) response.write(last);
    void dropping.then(() => response.end());
  }

  cut(): void {
    const response = this.#response;
    const socket = response.socket;
    if (!socket || !response.headersSent) response.destroy();
    // Node corks the first write until the next tick: only then is there something to flush.
    else setImmediate(() => socket.destroySoon());
  }
}
