import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { stackOf } from '#lib/core/errors';
import { freeSlots } from '#lib/gateway/limits/shared-limits';
import { openLimitStore } from '#lib/gateway/limits/store/open-limits';
import { systemClock } from '#lib/platform/clock';
import type { Env } from '#lib/platform/env/env';
import { createIds } from '#lib/platform/ids';
import { closeInQuietTurn } from '#lib/programs/process/listener/quiet-turn';
import { onStop } from '#lib/programs/process/stop';
import { openTelemetry } from '#lib/programs/process/telemetry';
import { ConnectionDispatcher } from '#lib/programs/process/workers/connection-dispatcher';
import { openMachine } from '#lib/programs/process/workers/serving-context';
import { createTakeOver } from '#lib/programs/process/workers/take-over';
import { WorkerPool } from '#lib/programs/process/workers/worker-pool';

/** How long after the running calls' patience a worker may take to close its books, ms. */
const CLOSE_MS = 12_000;

/**
 * The process that starts the others (contract: durability/workers). It owns DATA_DIR, the embedded database, the
 * simulated provider and the listener's port, hands each connection to a worker, settles what a dead worker left, and
 * replaces it. No call passes through it.
 */
export async function runWorkers(env: Env, log: Logger): Promise<void> {
  const machine = await openMachine(env, log, false);
  if (machine.embedded) {
    const text =
      'the embedded database limits how many calls several workers can serve: set DATABASE_URL to serve more';
    log.warn({ workers: env.workers }, text);
  }
  const ids = createIds(systemClock);
  const journalDir = join(env.dataDir, 'journal');
  const telemetry = openTelemetry(env, { db: machine.db, journalDir, log });
  const limits = await openLimitStore(env, machine.databaseUrl, () => undefined);
  const takeOver = createTakeOver({
    pool: machine.db.pool,
    dataDir: env.dataDir,
    journalDir,
    living: () => pool.owners(),
    onInterrupted: async (dead, ended) => {
      await telemetry.onInterrupted?.(dead, ended);
      const calls = ended.map(({ call }) => call);
      if (limits)
        await freeSlots(limits, dead, calls).catch((error) => log.warn({ reason: stackOf(error) }, 'slots'));
    },
    log,
  });
  const dispatcher = new ConnectionDispatcher();
  // Paused: the worker reads it.
  const listener = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    // Its client left; the worker notices.
    socket.on('error', () => undefined);
    dispatcher.give(socket);
  });
  const pool = new WorkerPool({
    dispatcher,
    onReady: () => {
      if (!listener.listening) listener.listen(env.port, env.host);
    },
    count: env.workers,
    databaseUrl: machine.databaseUrl,
    secrets: machine.upstreams.secrets,
    authSecrets: machine.authSecrets,
    newOwner: () => ids.newId() ?? crypto.randomUUID(),
    onServing: machine.welcome,
    onEnd: () => void takeOver.run(),
    onFailedStart: (reason) => fail(new Error(reason)),
    log,
  });
  const fail = onStop({
    finish: async (patienceMs) => {
      dispatcher.end();
      if (env.shutdownDelayMs > 0) await closeInQuietTurn(() => listener.close());
      await pool.stop(env.shutdownDelayMs + patienceMs + CLOSE_MS);
    },
    close: async () => {
      listener.close();
      if (!pool.endedWell()) await takeOver.run();
      takeOver.stop();
      await limits?.close();
      await machine.close();
      if (!pool.endedWell()) throw new Error('a worker did not stop cleanly; its calls have been settled');
    },
    report: (error, fatal) => {
      if (fatal)
        log.fatal({ reason: stackOf(error) }, 'fatal error: the gateway is stopping; start it again');
      else log.error({ reason: stackOf(error) }, 'unhandled rejection');
    },
  });
  listener.on('error', fail);
  // Before a worker serves, so that every limit and balance includes the calls of dead processes.
  await takeOver.run();
  pool.start();
}
