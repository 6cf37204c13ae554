import { isGreeting } from '#lib/gateway/flow/greeting';
import type { Arrival, HeaderList, Reply } from '#lib/gateway/flow/lane';
import { findRuntime, getRuntime, type Runtime } from '#lib/gateway/flow/runtime';
import { serve } from '#lib/gateway/flow/serve';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import { decodedBody } from '#lib/gateway/flow/upload/coded-body';
import { WebBody } from '#lib/gateway/flow/web-body';

/** The lane for any host that runs only Next: the same pipeline through web `Request` and `Response`. */
export async function webLane(request: Request): Promise<Response> {
  const runtime = getRuntime() ?? (await startRuntime());
  const url = new URL(request.url);
  if (isGreeting(request.method, url.pathname)) {
    return new Response(null, { headers: { 'x-request-id': runtime.newId() ?? runtime.fallbackId() } });
  }
  return new Promise((resolve) => {
    const goneListeners: (() => void)[] = [];
    const gone = () => {
      for (const listener of goneListeners.splice(0)) listener();
    };
    const { bodies, limits } = runtime;
    const body = new WebBody(request, bodies, limits.bodyPace);
    const reply = webReply(resolve, gone, body);
    request.signal.addEventListener('abort', () => reply.ended() || gone());
    const arrival: Arrival = {
      method: request.method,
      target: url.pathname + url.search,
      headers: Object.fromEntries(request.headers),
      body: decodedBody(body, request.headers.get('content-encoding') ?? undefined, bodies, limits.bodyPace),
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
      .finally(() => body.release());
  });
}

/**
 * The runtime of a host that has none yet. While it cannot be made, each call is refused with an id and tries again.
 */
async function startRuntime(): Promise<Runtime> {
  try {
    return (await findRuntime()) ?? unconfiguredRuntime();
  } catch (error) {
    const runtime = unconfiguredRuntime();
    runtime.report(error, null);
    return runtime;
  }
}

/** Statuses for which a web Response accepts no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** `pull` means that there is room, `cancel` that the client has left; an error breaks the body off. */
function webReply(
  resolve: (response: Response) => void,
  gone: () => void,
  body: WebBody,
): Reply & { ended(): boolean } {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let drain: () => void = () => {};
  let cutting = false;
  let ended = false;
  const encoder = new TextEncoder();
  const start = (status: number, headers: HeaderList, reason?: string) => {
    if (controller) return;
    const answer = new ReadableStream<Uint8Array>({
      start: (made) => {
        controller = made;
      },
      pull: () => {
        if (cutting) breakOff();
        else drain();
      },
      cancel: () => {
        if (ended) return;
        ended = true;
        gone();
      },
    });
    try {
      resolve(respond(status, headers, answer, reason));
    } catch (error) {
      // Nothing has been sent: the client can still get an error.
      controller = null;
      throw error;
    }
  };
  const respond = (status: number, headers: HeaderList, answer: ReadableStream, reason = '') => {
    const sent = new Headers();
    for (let at = 0; at + 1 < headers.length; at += 2) sent.set(headers[at] ?? '', headers[at + 1] ?? '');
    if (body.unread()) sent.set('connection', 'close');
    const init = { status, statusText: reason, headers: sent };
    return new Response(bodiless.has(status) ? null : answer, init);
  };
  // An error discards what was not pulled yet, and the host needs a turn to write what was pulled.
  const breakOff = () => setImmediate(() => controller?.error(new BrokenOff()));
  const write = (chunk: Uint8Array) => {
    if (ended || !controller) return true;
    if (chunk.length > 0) controller.enqueue(chunk);
    return (controller.desiredSize ?? 1) > 0;
  };
  return {
    start,
    started: () => controller !== null,
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
      if (!controller) start(502, []);
      if (ended) return;
      ended = true;
      cutting = true;
      if ((controller?.desiredSize ?? 0) > 0) breakOff();
    },
    ended: () => ended,
  };
}

/** Hosts log an unknown error of a body; one with this name they recognize as an abort. */
class BrokenOff extends Error {
  override readonly name = 'AbortError';
}
