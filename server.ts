import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pino } from 'pino';
import { openPaymentDuties } from '#lib/billing/payments/duties';
import { findPayments } from '#lib/billing/payments/find';
import { meetCatalogue } from '#lib/catalogue/at-start';
import { loadEnv, publicUrl } from '#lib/env';
import { pendingSettings } from '#lib/env-pending';
import { refuseFraming, refuseTunnel } from '#lib/gateway/framing';
import { nodeLane } from '#lib/gateway/node-lane';
import { openOutboxOf } from '#lib/mail/open';
import { openManagement } from '#lib/management/open';
import { isManagementTarget } from '#lib/management/serve';
import { assemble } from '#lib/process/assemble';
import { controlOf } from '#lib/process/control';
import { isForGateway, routedTarget } from '#lib/process/dispatch';
import { orExplain } from '#lib/process/explain';
import { inTurn } from '#lib/process/listener/in-turn';
import { checkPort } from '#lib/process/listener/port';
import { trackSilent } from '#lib/process/listener/silent-connections';
import { isMetricsTarget, openMetrics } from '#lib/process/metrics';
import { createBodyGate } from '#lib/process/pages/body-gate';
import { openConsole } from '#lib/process/pages/console';
import { logWhatIsPrinted } from '#lib/process/printed';
import { onStop } from '#lib/process/stop';
import { openStore } from '#lib/process/store';
import { keepTickShape } from '#lib/process/tick-shape';
import { openUpstreams } from '#lib/process/upstreams';
import { welcome } from '#lib/process/welcome';
import { openThrottle } from '#lib/throttle/open';
import { catalogueDir, seedFirstRun } from '#prisma/seed';

/** The process: environment → database → runtime → one listener with two lanes. */
keepTickShape();
// Files, sockets and children of this process are its user's alone.
process.umask(0o077);
const env = await orExplain(loadEnv);
// A log that cannot be written (the terminal closed, the disk full) must not end what it tells of.
const sink = pino.destination(2).on('error', () => undefined);
const log = pino({ level: env.logLevel, base: null }, sink);
for (const { setting, instead } of pendingSettings(env))
  log.warn({ setting, instead }, 'a setting that does nothing yet');
const store = await orExplain(() => openStore(env, log));
await orExplain(() => checkPort(env));
const sayHello = process.stdout.write.bind(process.stdout);
if (!process.argv.includes('--dev')) logWhatIsPrinted(log);
const firstRun = store.embedded ? await seedFirstRun(store.operationsDb, env) : null;
const upstreams = await openUpstreams(env, log);
const running = await assemble(env, store.db, upstreams, log);
const dev = process.argv.includes('--dev');
const metrics = await openMetrics(env, store.db.pool, running);
const throttle = openThrottle(env, (error) => log.warn({ reason: reasonOf(error) }, 'throttle'));
const outbox = openOutboxOf(
  env,
  store.operationsDb,
  publicUrl(env, env.port),
  (error) => log.error({ reason: reasonOf(error) }, 'mail'),
  (fields, message) => log.warn(fields, message),
);
const payments = await findPayments(env.stripe, publicUrl(env, env.port));
const control = controlOf(env, store.operationsDb, running, outbox, payments);
const duties = await openPaymentDuties(payments, control, (error) =>
  log.error({ reason: reasonOf(error) }, 'payments'),
);
const management = openManagement(control, log);
const pages = await openConsole(env, { control, throttle: throttle.throttle }, log, dev);
const newId = () => running.runtime.newId() ?? running.runtime.fallbackId();
const takeBody = createBodyGate(newId);
let stopping = false;
const take = inTurn(serve);

const server = createServer(
  {
    maxHeaderSize: 32 * 1024,
    headersTimeout: 15_000,
    requestTimeout: 0,
    keepAliveTimeout: 75_000,
    connectionsCheckingInterval: 2_000,
    // Node would answer a request without Host itself, without an id.
    requireHostHeader: false,
    // The gateway upgrades nothing: such a request is answered as if it had not asked.
    shouldUpgradeCallback: (request) => dev && !isForGateway(request),
  },
  take,
);
// Node would answer an Expect that it does not know itself, without an id.
server.on('checkExpectation', take);
server.on('clientError', (error, socket) => refuseFraming(running.runtime, error, socket));
server.on('connect', (_, socket) => refuseTunnel(running.runtime, socket));
pages.attach(server);
const silent = trackSilent(server);

server.listen(env.port, env.host, () => {
  sayHello(welcome(env, firstRun));
  void meetCatalogue({
    host: control,
    catalogueDir,
    dataDir: env.dataDir,
    embedded: store.embedded,
    sandbox: env.sandbox,
    log,
  });
});

const fail = onStop({
  finish: async (patienceMs) => {
    const untilMs = performance.now() + patienceMs;
    stopping = true;
    // Until the last running call has ended it still listens, so that whoever asks hears of the stop.
    await running.finishCalls(patienceMs);
    await drainConnections(Math.max(0, untilMs - performance.now()));
    // Calls that were cut just now settle at once.
    await running.finishCalls(2_000);
  },
  close,
  report: (error, fatal) => {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (fatal) log.fatal({ reason }, 'an error that nobody caught: the gateway stops, start it again');
    else log.error({ reason }, 'a rejection that nobody handled');
  },
});
server.on('error', fail);

function serve(request: IncomingMessage, response: ServerResponse): void {
  if (stopping) response.setHeader('connection', 'close');
  const target = request.url ?? '';
  if (isManagementTarget(target)) management(request, response);
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

/** In the lane that is chosen; what Next would not hand to a route is answered here either way. */
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
  response.writeHead(ready ? 200 : 503, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify({ status: stopping ? 'stopping' : ready ? 'ready' : 'not ready' }));
}

/** Running answers end by themselves; idle connections are closed; at the deadline the rest is cut. */
async function drainConnections(patienceMs: number): Promise<void> {
  const idle = setInterval(() => {
    server.closeIdleConnections();
    silent.end();
  }, 100);
  const deadline = setTimeout(() => server.closeAllConnections(), patienceMs);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearInterval(idle);
  clearTimeout(deadline);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function close(): Promise<void> {
  await pages.close();
  await outbox.stop();
  await duties.stop();
  throttle.close();
  await running.stop();
  await upstreams.close();
  await store.close();
}
