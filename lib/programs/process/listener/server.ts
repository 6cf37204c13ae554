import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isManagementTarget } from '#lib/control/management/serve';
import { refuseFraming, refuseTunnel } from '#lib/gateway/flow/framing';
import { isGreeting } from '#lib/gateway/flow/greeting';
import { nodeLane } from '#lib/gateway/flow/node-lane';
import { SocketServer } from '#lib/gateway/sockets/server';
import type { Env } from '#lib/platform/env/env';
import { ownVersion } from '#lib/platform/own-version';
import type { GatewayProcess } from '#lib/programs/process/assemble';
import { isForGateway, routedTarget } from '#lib/programs/process/dispatch';
import { trackConnections } from '#lib/programs/process/listener/connections';
import { inTurn } from '#lib/programs/process/listener/in-turn';
import { isMetricsTarget, type ServeMetrics } from '#lib/programs/process/metrics';
import { createBodyGate } from '#lib/programs/process/pages/body-gate';
import type { Pages } from '#lib/programs/process/pages/console';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface ListenerParts {
  readonly env: Pick<Env, 'lane'>;
  readonly running: Pick<GatewayProcess, 'runtime' | 'ready'>;
  readonly metrics: ServeMetrics;
  readonly management: Answer;
  readonly pages: Pages;
  readonly dev: boolean;
}

/** The one listener with its two lanes, and how it ends. */
export function createListener(parts: ListenerParts) {
  const { env, running, metrics, management, pages, dev } = parts;
  const newId = () => running.runtime.newId() ?? running.runtime.fallbackId();
  const takeBody = createBodyGate(newId);
  const version = ownVersion();
  let stopping = false;
  let ending: NodeJS.Timeout | null = null;
  const { take, closeAfterAnswers, isAnswering } = inTurn(serve);

  const server = createServer(
    {
      maxHeaderSize: 32 * 1024,
      headersTimeout: 15_000,
      requestTimeout: 0,
      keepAliveTimeout: 75_000,
      connectionsCheckingInterval: 2_000,
      // Node itself would answer a request without Host, without an id.
      requireHostHeader: false,
      // Any other request is answered as if it had not asked for an upgrade.
      shouldUpgradeCallback: (request) => (isForGateway(request) ? upgrades(request) : dev),
    },
    take,
  );
  // Node itself would answer an unknown Expect, without an id.
  server.on('checkExpectation', take);
  server.on('clientError', (error, socket) => refuseFraming(running.runtime, error, socket));
  server.on('connect', (_, socket) => refuseTunnel(running.runtime, socket));
  const sockets = new SocketServer(running.runtime);
  server.on('upgrade', (request, socket, head) => {
    if (isForGateway(request)) sockets.upgrade(request, socket, head);
  });
  pages.attach(server);
  const connections = trackConnections(server, (socket) => isAnswering(socket) || sockets.has(socket));

  /** Only a connection on which nothing else runs, and only in the node lane (contract: sockets/sockets-of-lanes). */
  function upgrades(request: IncomingMessage): boolean {
    return env.lane === 'node' && !isAnswering(request.socket) && sockets.takes(request);
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    if (stopping) response.setHeader('connection', 'close');
    const target = request.url ?? '';
    if (isGreeting(request.method, target)) response.writeHead(200, { 'x-request-id': newId() }).end();
    else if (isManagementTarget(target)) management(request, response);
    else if (isForGateway(request)) answerCall(request, response);
    else {
      if (target.startsWith('/api/')) response.setHeader('x-request-id', newId());
      serveConsole(request, response, target);
    }
  }

  function serveConsole(request: IncomingMessage, response: ServerResponse, target: string): void {
    if (/^\/api\/health(?:\?|$)/.test(target)) health(response);
    else if (isMetricsTarget(target)) metrics(request, response);
    else takeBody(request, response, (whole) => pages.serve(whole, response));
  }

  /** In the configured lane; what Next would not pass to a route is always answered here. */
  function answerCall(request: IncomingMessage, response: ServerResponse): void {
    const routed = env.lane === 'web' ? routedTarget(request) : null;
    if (routed === null) {
      nodeLane(running.runtime, request, response);
      return;
    }
    request.url = routed;
    pages.serve(request, response);
  }

  function health(response: ServerResponse): void {
    const ready = !stopping && running.ready();
    response.writeHead(ready ? 200 : 503, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    const status = stopping ? 'stopping' : ready ? 'ready' : 'not ready';
    response.end(JSON.stringify({ status, version }));
  }

  function endIdle(): void {
    sockets.stop();
    connections.endIdle();
    ending ??= setInterval(() => connections.endIdle(), 100);
  }

  return {
    server,
    /** From now on, health reports it, and each answer closes its connection, including running ones. */
    stopping: () => {
      stopping = true;
      closeAfterAnswers();
    },
    /** Closes connections that are idle, now and until `drain` is over. */
    endIdle,
    /** Resolves once no connection is open. */
    gone: () => connections.gone(),
    /** Waits for running answers to end; after `patienceMs` the rest is cut off. */
    async drain(patienceMs: number) {
      endIdle();
      const deadline = setTimeout(() => {
        server.closeAllConnections();
        sockets.terminate();
      }, patienceMs);
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await connections.gone();
      if (ending) clearInterval(ending);
      clearTimeout(deadline);
    },
  };
}
