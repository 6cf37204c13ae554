/**
 * A collector for tests, in its own process: accepts OTLP over HTTP and reports every request to its parent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Arrival, CollectorMode } from '#tests/support/telemetry/collector';
import { decodeSpans, encodePartialSuccess } from '#tests/support/telemetry/decode';

let mode: CollectorMode = { kind: 'take' };
let most = Number.POSITIVE_INFINITY;

const server = createServer((request, response) => {
  void receive(request, response);
});

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const sent = Buffer.concat(chunks);
  const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
  const taken = mode.kind === 'take' || mode.kind === 'reject';
  const tooLarge = Number.isFinite(most) && decodeSpans(body).length > most;
  const arrival: Arrival = {
    path: request.url ?? '',
    headers: request.headers,
    bytes: sent.length,
    taken: taken && !tooLarge,
    atMs: performance.now(),
    body,
  };
  process.send?.({ arrival });
  if (mode.kind === 'hang') return;
  if (tooLarge) {
    response.writeHead(413).end();
  } else if (mode.kind === 'answer') {
    response.writeHead(mode.status, mode.headers).end(mode.echo ? status(request.headers) : undefined);
  } else if (mode.kind === 'reject') {
    response.writeHead(200, { 'content-type': 'application/x-protobuf' });
    response.end(encodePartialSuccess(mode.spans, 'no room for them'));
  } else {
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  }
}

/** A google.rpc.Status whose message repeats the request's headers. */
function status(headers: IncomingMessage['headers']): Buffer {
  const text = Buffer.from(`bad headers: ${JSON.stringify(headers)}`.slice(0, 120));
  return Buffer.concat([Buffer.from([0x12, text.length]), text]);
}

process.on('message', (message: { mode?: CollectorMode; most?: number; port?: number }) => {
  if (message.mode) mode = message.mode;
  if (message.most !== undefined) most = message.most;
  if (message.port === undefined) return;
  server.listen(message.port, '127.0.0.1', () => process.send?.({ listens: true }));
});
process.on('disconnect', () => process.exit());
