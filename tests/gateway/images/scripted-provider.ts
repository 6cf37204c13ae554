import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A provider that does with each request what a test says: reads slowly, answers early, hangs up. */
export interface ScriptedProvider {
  /** Its versioned root. */
  readonly url: string;
  /** How the next requests are treated. */
  script: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

const answered = JSON.stringify({
  created: 1,
  data: [{ b64_json: 'AAAA' }],
  usage: { input_tokens: 10, output_tokens: 20, total_tokens: 30 },
});

export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const provider: ScriptedProvider = {
    url: '',
    script: (request, response) => {
      request.resume().on('end', () => answer(response));
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer((request, response) => {
    request.on('error', () => {});
    provider.script(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return Object.assign(provider, { url: `http://127.0.0.1:${port}/v1` });
}

export function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(answered);
}

/** Reads a body in gulps with pauses between. @returns its length when it is over. */
export async function readSlowly(
  request: IncomingMessage,
  pauseMs: number,
  gulpBytes: number,
): Promise<number> {
  let bytes = 0;
  let gulp = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    gulp += chunk.length;
    if (gulp < gulpBytes) return;
    gulp = 0;
    request.pause();
    setTimeout(() => request.resume(), pauseMs);
  });
  await once(request, 'end');
  return bytes;
}
