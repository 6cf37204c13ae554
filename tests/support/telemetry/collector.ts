import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';
import { freePort } from '#tests/support/run/free-port';
import { decodeSpans, type ReceivedSpan } from '#tests/support/telemetry/decode';

/** What the collector does with requests. */
export type CollectorMode =
  | { readonly kind: 'take' }
  /** Accepts a request except for some of its spans. */
  | { readonly kind: 'reject'; readonly spans: number }
  /** `echo`: with a message that repeats the request's headers. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: OutgoingHttpHeaders;
      readonly echo?: boolean;
    }
  | { readonly kind: 'hang' };

/** A request as it arrived. */
export interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As sent, compressed. */
  readonly bytes: number;
  readonly taken: boolean;
  /** When it had arrived, by the collector's monotonic clock. */
  readonly atMs: number;
  readonly spans: readonly ReceivedSpan[];
}

/**
 * What the collector's process reports about a request: its bytes, because objects of many spans take long to
 * send.
 */
export interface Arrival extends Omit<Delivery, 'spans'> {
  readonly body: Uint8Array;
}

export interface Collector {
  /** The address for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** Spans of accepted requests, in order, including repeats. */
  taken(): ReceivedSpan[];
  /** The last span of each call, by the call's id. */
  calls(): Map<string, ReceivedSpan>;
  be(mode: CollectorMode): void;
  /** Refuses requests with more spans than this with 413. */
  takeAtMost(spans: number): void;
  /** Stops the process: connections are then refused. */
  leave(): Promise<void>;
  /** Starts it again on the same port. */
  come(): Promise<void>;
}

const program = fileURLToPath(new URL('./collector-process.ts', import.meta.url));

export async function startCollector(): Promise<Collector> {
  const deliveries: Delivery[] = [];
  // After a restart, it has the same one.
  const port = await freePort();
  let child = await start();

  async function start() {
    const made = fork(program, { execArgv: [], serialization: 'advanced' });
    const listening = new Promise<void>((resolve, reject) => {
      made.on('message', ({ arrival, listens }: { arrival?: Arrival; listens?: true }) => {
        if (arrival) {
          const { body, ...rest } = arrival;
          deliveries.push({ ...rest, spans: decodeSpans(body) });
        }
        if (listens) resolve();
      });
      made.once('exit', (code) => reject(new Error(`the collector ended with ${code}`)));
    });
    made.send({ port });
    await listening;
    return made;
  }

  const taken = () => deliveries.flatMap((delivery) => (delivery.taken ? delivery.spans : []));
  return {
    url: `http://127.0.0.1:${port}`,
    deliveries,
    taken,
    calls() {
      const roots = taken().filter(({ parentSpanId }) => parentSpanId === '');
      return new Map(roots.map((span) => [String(span.attributes['model_gateway.call.id']), span]));
    },
    be: (mode) => child.send({ mode }),
    takeAtMost: (most) => child.send({ most }),
    async leave() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async come() {
      child = await start();
    },
  };
}
