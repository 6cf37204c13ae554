import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { startAlerts } from '#lib/control/alerts/worker';
import { openPaymentDuties } from '#lib/control/billing/payments/duties';
import { findPayments } from '#lib/control/billing/payments/find';
import { standInSettings } from '#lib/control/billing/payments/stand-in';
import { openOutboxOf } from '#lib/control/mail/open-outbox';
import { openManagement } from '#lib/control/management/node';
import { openDailyUpdate } from '#lib/control/operations/catalogue/daily-update';
import { startViews } from '#lib/control/views/worker';
import { messageOf, stackOf } from '#lib/core/errors';
import { isDatabaseAway } from '#lib/platform/data/database-errors';
import { type Env, publicUrl } from '#lib/platform/env/env';
import { openThrottle } from '#lib/platform/throttle/open-throttle';
import { assemble } from '#lib/programs/process/assemble';
import { openDatabaseBooks } from '#lib/programs/process/books/database-books';
import { openJournalBooks } from '#lib/programs/process/books/journal-books';
import { meetCatalogue } from '#lib/programs/process/catalogue/at-start';
import { controlOf } from '#lib/programs/process/control';
import { closeInQuietTurn } from '#lib/programs/process/listener/quiet-turn';
import { createListener } from '#lib/programs/process/listener/server';
import { openMetrics } from '#lib/programs/process/metrics';
import { openConsole } from '#lib/programs/process/pages/console';
import { onStop, thisProcess } from '#lib/programs/process/stop';
import type { ServingContext } from '#lib/programs/process/workers/serving-context';
import { workerSignals } from '#lib/programs/process/workers/signals';
import { catalogueDir } from '#prisma/seed';

/** Assembles the process and serves gateway and console where its context says, until it is told to stop. */
export async function serveAt(context: ServingContext, env: Env, log: Logger, dev: boolean): Promise<void> {
  const { db, operationsDb, worker } = context;
  const openBooks = env.settlement === 'database' ? openDatabaseBooks : openJournalBooks;
  const running = await assemble(env, { ...context, openBooks }, log);
  /** The log has one line for an outage of the database (contract: durability/database-away). */
  const reportOf = (part: string) => (error: unknown) => {
    if (isDatabaseAway(error)) running.runtime.report(error, null);
    else log.error({ reason: messageOf(error) }, part);
  };
  const metrics = await openMetrics(env, db.pool, running, worker?.number ?? null);
  const throttle = openThrottle(env, (error) => log.warn({ reason: messageOf(error) }, 'throttle'));
  const outbox = openOutboxOf(env, operationsDb, {
    publicUrl: publicUrl(env, env.port),
    report: reportOf('mail'),
    print: (fields, message) => log.warn(fields, message),
  });
  const stripe = env.stripe ?? standInSettings((name) => context.upstreams.envSecret(name));
  const payments = await findPayments(stripe, publicUrl(env, env.port));
  const control = controlOf(env, { db: operationsDb, running, outbox, payments });
  const duties = await openPaymentDuties(payments, control, reportOf('payments'));
  const dailyUpdate = openDailyUpdate(control, reportOf('price tables'));
  const alerts = startAlerts({
    pool: operationsDb.pool,
    sealingKey: control.sealingKey ?? null,
    limitUse: async (id) => (await control.limitUse?.(id)) ?? [],
    report: reportOf('alerts'),
  });
  const views = startViews({
    db: operationsDb,
    mails: env.smtpUrl !== null,
    report: reportOf('saved views'),
  });
  const management = openManagement(control, env.proxyHops, log);
  const { authSecrets } = context;
  const seen = { control, throttle: throttle.throttle, authSecrets, report: reportOf('console') };
  const pages = await openConsole(env, seen, log, dev);
  const listener = createListener({ env, running, metrics, management, pages, dev });
  /** Other processes of this machine take the connections that this one no longer accepts. */
  let othersServe = worker !== null;
  /** Aborted by an uncaught error: no calls are admitted from then on. */
  const fault = new AbortController();

  const signals =
    worker === null
      ? thisProcess
      : workerSignals(() => {
          othersServe = false;
        });
  const fail = onStop(
    {
      finish: async (patienceMs) => {
        listener.stopping();
        log.info({ calls: running.state().callsInFlight, delayMs: env.shutdownDelayMs }, 'stopping');
        if (othersServe || env.shutdownDelayMs > 0) {
          await closeInQuietTurn(context.shut);
        }
        // Calls on open connections are still admitted; a proxy takes its next ones elsewhere.
        if (env.shutdownDelayMs > 0) {
          const delay = pause(env.shutdownDelayMs, undefined, { signal: fault.signal }).catch(
            () => undefined,
          );
          await Promise.race([delay, listener.gone()]);
        }
        listener.endIdle();
        log.info(
          { calls: running.state().callsInFlight },
          'draining: new calls are refused, running calls finish',
        );
        const untilMs = performance.now() + patienceMs;
        // It still listens until the last running call has ended, so that new requests get an answer.
        await running.finishCalls(patienceMs);
        const cut = running.state().callsInFlight;
        if (cut > 0) log.warn({ calls: cut }, 'the running calls did not finish in time and are cut off');
        await closeInQuietTurn(context.shut);
        await listener.drain(Math.max(0, untilMs - performance.now()));
        // Calls that were cut off now settle at once.
        await running.finishCalls(2_000);
      },
      close: async () => {
        await pages.close();
        await outbox.stop();
        await duties.stop();
        await dailyUpdate.stop();
        await alerts.stop();
        await views.stop();
        throttle.close();
        await running.stop();
        await context.close();
        log.info('stopped');
      },
      report: (error, fatal) => {
        const reason = stackOf(error);
        if (!fatal) return void log.error({ reason }, 'unhandled rejection');
        fault.abort();
        log.fatal({ reason }, 'uncaught error: the gateway is stopping; start it again');
      },
    },
    signals,
  );
  listener.server.on('error', fail);
  context.open(listener.server, () => {
    const met = context.first
      ? meetCatalogue({
          host: control,
          catalogueDir,
          dataDir: env.dataDir,
          embedded: context.embedded,
          sandbox: env.sandbox,
          log,
        })
      : Promise.resolve();
    void met.finally(() => {
      // Frees what starting left behind, a third of the server's memory, which V8 itself would do only under load. Blocks
      // for some 0.3 s (docs/decisions/memory-at-rest.md); only this flavor also shrinks the young generation.
      const serves = running.state().callsInFlight > 0;
      if (!serves) globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    });
  });
}
