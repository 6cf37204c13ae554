import { Refused, refusal } from '#lib/errors';
import type { Arrival, HeaderList, Reply } from '#lib/gateway/lane';
import { getRuntime, type Runtime } from '#lib/gateway/runtime';
import { serve } from '#lib/gateway/serve';
import { unconfiguredRuntime } from '#lib/gateway/unconfigured';

/** The lane for any host that runs only Next: the same pipeline through web `Request` and `Response`. */
export function webLane(request: Request): Promise<Response> {
  const runtime = getRuntime() ?? unconfiguredRuntime();
  const url = new URL(request.url);
  return new Promise((resolve) => {
    const goneListeners: (() => void)[] = [];
    const gone = () => {
      for (const listener of goneListeners.splice(0)) listener();
    };
    const reply = webReply(resolve, gone);
    request.signal.addEventListener('abort', () => reply.ended() || gone());
    const body = webBody(request, runtime);
    const arrival: Arrival = {
      method: request.method,
      target: url.pathname + url.search,
      headers: Object.fromEntries(request.headers),
      body,
      onGone: (listener) => {
        goneListeners.push(listener);
        if (request.signal.aborted && !reply.ended()) gone();
      },
    };
    serve(runtime, arrival, reply)
      .catch((error: unknown) => {
        runtime.report(error, null);
        reply.cut();
      })
      .finally(body.release);
  });
}

/** Pull makes room, cancel means the client is gone, an error breaks the body off. */
function webReply(resolve: (response: Response) => void, gone: () => void): Reply & { ended(): boolean } {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let drain: () => void = () => {};
  let ended = false;
  const encoder = new TextEncoder();
  const start = (status: number, headers: HeaderList) => {
    if (controller) return;
    const body = new ReadableStream<Uint8Array>({
      start: (made) => {
        controller = made;
      },
      pull: () => drain(),
      cancel: () => {
        if (ended) return;
        ended = true;
        gone();
      },
    });
    resolve(new Response(status === 204 || status === 304 ? null : body, { status, headers }));
  };
  const write = (chunk: Uint8Array) => {
    if (ended || !controller) return true;
    if (chunk.length > 0) controller.enqueue(chunk);
    return (controller.desiredSize ?? 1) > 0;
  };
  return {
    start,
    write,
    onDrain: (listener) => {
      drain = listener;
    },
    end: (last) => {
      if (last !== undefined) write(typeof last === 'string' ? encoder.encode(last) : last);
      if (!ended) controller?.close();
      ended = true;
    },
    cut: () => {
      if (!controller) start(502, {});
      if (!ended) controller?.error(new Error('the answer broke off'));
      ended = true;
    },
    ended: () => ended,
  };
}

function webBody(request: Request, runtime: Runtime): Arrival['body'] & { release(): void } {
  let taken = 0;
  return {
    read: async (limit) => {
      const declared = Number(request.headers.get('content-length') ?? 0);
      if (declared > limit) throw tooLarge(limit);
      const wait = runtime.bodies.take(declared);
      taken = declared;
      if (wait) await wait;
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of request.body ?? []) {
        size += chunk.length;
        if (size > limit) throw tooLarge(limit);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks, size);
    },
    // The host owns the connection: an unread body is its to drop.
    drop: () => {},
    release: () => {
      runtime.bodies.give(taken);
      taken = 0;
    },
  };
}

function tooLarge(limit: number): Refused {
  return new Refused(
    refusal('invalid_body', `The request body is over the limit of ${limit} bytes; send a smaller one.`),
  );
}
