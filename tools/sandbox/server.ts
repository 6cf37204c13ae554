import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveProvider } from '#tools/sandbox/provider';
import { serveRealtime } from '#tools/sandbox/realtime/server';
import { RunningAnswers } from '#tools/sandbox/running-answers';
import { serveTruth } from '#tools/sandbox/serve-truth';
import { TruthLog } from '#tools/sandbox/truth-log';

export interface SandboxOptions {
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** The bearer token that every request needs; absent: none. */
  readonly key?: string;
  /** A file to which the truth log is appended as JSONL. */
  readonly logFile?: string;
  /** Between content chunks, if the model's name does not say, ms; default: 0. */
  readonly paceMs?: number;
}

export interface Sandbox {
  /** The versioned root, as in a catalogue: "http://127.0.0.1:4010/v1". */
  readonly url: string;
  /** The server's own root, with `/_log` below it. */
  readonly origin: string;
  readonly truth: TruthLog;
  /** Also ends running answers. */
  close(): Promise<void>;
}

/**
 * Starts the simulated provider.
 * @throws when the port is taken.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const truth = new TruthLog(options.logFile ?? null);
  const running = new RunningAnswers();
  const key = options.key ?? null;
  const provide = serveProvider({ truth, key, paceMs: options.paceMs ?? 0, running });
  const report = serveTruth({ truth, key, running });
  const answer = async (request: IncomingMessage, response: ServerResponse) =>
    request.url?.startsWith('/_') ? report(request, response) : provide(request, response);
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const sessions = serveRealtime(server, { truth, key, paceMs: options.paceMs ?? 0 });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1', backlog: 4096 }, resolve);
  });
  const { port, address, family } = portOf(server.address());
  const origin = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  return {
    url: `${origin}/v1`,
    origin,
    truth,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const session of sessions) session.terminate();
      }),
  };
}

/** A server that listens on TCP has an AddressInfo; a path or null means that it does not. */
function portOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the sandbox does not listen');
  return address;
}
