import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  badBody,
  bodyFaults,
  longestBodyMs,
  mostBytes,
  requestsPerMinute,
  textOf,
} from '#lib/control/management/limits';
import { createPace } from '#lib/control/management/pace';
import { type ManagementHost, serveManagement } from '#lib/control/management/serve';
import type { ControlHost } from '#lib/control/operations/run';
import { stackOf } from '#lib/core/errors';
import { clientAddress } from '#lib/platform/client-address';
import { systemClock } from '#lib/platform/clock';
import { createIds } from '#lib/platform/ids';

/** For how long a refused client's further bytes are discarded, so that it can read the answer, ms. */
const dropMs = 1_000;

/** Answers `/api/v1` in this process, on plain `node:http` in front of Next. */
export function openManagement(
  control: ControlHost,
  proxyHops: number,
  log: Logger,
): (request: IncomingMessage, response: ServerResponse) => void {
  const host: ManagementHost = {
    control,
    pace: createPace(requestsPerMinute),
    ids: createIds(systemClock),
    report: (error, id) => log.error({ id, reason: stackOf(error) }, 'fault'),
  };
  return (request, response) => {
    answer(host, request, response, clientAddress(request, proxyHops)).catch((error: unknown) => {
      host.report(error, '');
      response.destroy();
    });
  };
}

/** @param address where the request came from. */
async function answer(
  host: ManagementHost,
  request: IncomingMessage,
  response: ServerResponse,
  address: string | null,
): Promise<void> {
  const { status, headers, body, reason } = await serveManagement(host, {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]),
    ),
    address,
    readBody: () => readAll(request),
  });
  if (reason !== undefined) response.statusMessage = reason;
  if (request.complete || hasNoBody(request)) {
    response.writeHead(status, headers).end(body);
    return;
  }
  response.writeHead(status, { ...headers, connection: 'close' }).write(body);
  request.resume();
  await Promise.race([new Promise((resolve) => request.once('close', resolve)), pause(dropMs)]);
  response.end();
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** The body as UTF-8 text. @throws Denied (invalid_body) when it is too large, too slow or cut off. */
async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    let bytes = 0;
    const end = (fault: string | null) => {
      clearTimeout(timer);
      request.removeAllListeners('data').pause();
      if (fault === null) resolve();
      else reject(badBody(fault));
    };
    const timer = setTimeout(() => end(bodyFaults.slow), longestBodyMs);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostBytes) end(bodyFaults.large);
      else chunks.push(chunk);
    });
    request.once('end', () => end(null));
    request.once('error', () => end(bodyFaults.cut));
  });
  return textOf(chunks);
}
