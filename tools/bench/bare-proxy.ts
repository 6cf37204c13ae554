import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Pool } from 'undici';

/**
 * The minimum for a proxy in this language: `node:http` and undici `dispatch`, the body's JSON and the usage parsed,
 * nothing stored. The gateway is compared with it.
 */
const upstream = new Pool(process.env.UPSTREAM ?? '', { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
let billed = 0;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => forward(request, response, Buffer.concat(parts)));
});

function forward(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const asked: { stream?: boolean } = JSON.parse(body.toString());
  const kept: Buffer[] = [];
  upstream.dispatch(
    {
      path: request.url ?? '/',
      method: 'POST',
      headers: ['content-type', 'application/json', 'authorization', 'Bearer upstream'],
      body,
    },
    {
      onRequestStart(controller) {
        response.on('close', () => {
          if (!response.writableFinished) controller.abort(new Error('client gone'));
        });
        response.on('drain', () => controller.resume());
      },
      onResponseStart(_controller, status, headers) {
        response.writeHead(status, { 'content-type': String(headers['content-type']) });
      },
      onResponseData(controller, chunk) {
        if (asked.stream) readEvents(chunk);
        else kept.push(chunk);
        if (!response.write(chunk)) controller.pause();
      },
      onResponseEnd() {
        if (!asked.stream) billed += usageOf(Buffer.concat(kept).toString());
        response.end();
      },
      onResponseError() {
        response.destroy();
      },
    },
  );
}

function readEvents(chunk: Buffer): void {
  if (!chunk.includes('"usage":{')) return;
  for (const line of chunk.toString().split('\n')) {
    if (line.startsWith('data: {')) billed += usageOf(line.slice(6));
  }
}

function usageOf(json: string): number {
  const { usage }: { usage?: { total_tokens: number } | null } = JSON.parse(json);
  return usage?.total_tokens ?? 0;
}

server.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1', backlog: 4096 }, () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
  process.stdout.write(`${JSON.stringify({ port: address.port })}\n`);
});
process.stdin.resume().once('end', () => process.exit(billed < 0 ? 1 : 0));
