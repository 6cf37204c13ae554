import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { tellLowBalances } from '#lib/control/billing/low-balance';
import { expirePromos } from '#lib/control/billing/promo/expire';
import { keepPartitions } from '#lib/control/retention/partitions';
import { messageOf } from '#lib/core/errors';
import { createAccess } from '#lib/gateway/clouds/access';
import { COUNTS_MS, writesCounts } from '#lib/gateway/content/counts';
import { ContentKeeper } from '#lib/gateway/content/keeper';
import { ObjectThread } from '#lib/gateway/content/objects/object-thread';
import { deleteObjects } from '#lib/gateway/content/objects/sweep';
import { inDatabase, inObjects } from '#lib/gateway/content/places';
import { createBodyBudget } from '#lib/gateway/flow/body-budget';
import { RefusalPace } from '#lib/gateway/flow/refusal-pace';
import { Drains } from '#lib/gateway/flow/relay/drains';
import { type Runtime, setRuntime } from '#lib/gateway/flow/runtime';
import { bodyPace } from '#lib/gateway/flow/upload/pace';
import { openSpoolRoom } from '#lib/gateway/flow/upload/spool';
import { createUploadTickets } from '#lib/gateway/flow/upload/ticket';
import { CredentialCounts } from '#lib/gateway/limits/credential-limits';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { openSharedLimits } from '#lib/gateway/limits/store/open-limits';
import { ChargeFlags } from '#lib/gateway/metrics/charge-flags';
import { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import { listCredentials, listOffers } from '#lib/gateway/metrics/offers';
import { type ProcessState, statusText } from '#lib/gateway/metrics/status';
import { Tally } from '#lib/gateway/metrics/tally';
import { KeptAnswers } from '#lib/gateway/repeats/kept-answers';
import { openFileRoom } from '#lib/gateway/resources/database/file-room';
import { createHealth } from '#lib/gateway/routing/breaker';
import { Holders } from '#lib/gateway/routing/holders';
import { keepFolded } from '#lib/gateway/settlement/usage/fold';
import { type Answers, listenForPolls } from '#lib/gateway/snapshot/announce';
import { createPools } from '#lib/gateway/upstream/pools';
import { directTo } from '#lib/gateway/upstream/proxies';
import { type Clock, systemClock } from '#lib/platform/clock';
import { takeOwnDirectory } from '#lib/platform/data/directory/own-directory';
import type { Env } from '#lib/platform/env/env';
import { createIds } from '#lib/platform/ids';
import { repeat } from '#lib/platform/repeat';
import { sealingKeysOf } from '#lib/platform/sealing';
import type { Books, BooksParts } from '#lib/programs/process/books/books';
import { createFaultLog } from '#lib/programs/process/fault-log';
import { openJobs } from '#lib/programs/process/jobs';
import { remember } from '#lib/programs/process/memory/remember';
import type { ServingContext } from '#lib/programs/process/workers/serving-context';

/** How often every process expires promo credits and looks for low balances, ms; no process repeats another's work. */
const FUNDS_MS = 5_000;
/** How often objects to which no content refers are looked for, ms. */
const SWEEP_MS = 60_000;
/** How often a stop checks whether the running calls have ended, ms. */
const FINISH_POLL_MS = 25;
/** The disk budget of uploads, as a multiple of the largest upload. */
const MOST_UPLOADS = 16;
/** Drains are cut this long before the time for a stop runs out, so that they are still charged; ms. */
const CUT_DRAINS_MS = 2_000;

/** What it needs of the context that it serves in. */
interface AssembleContext extends Pick<ServingContext, 'db' | 'worker'> {
  readonly upstreams: Pick<ServingContext['upstreams'], 'envSecret'>;
  openBooks(parts: BooksParts): Promise<Books>;
}

interface AssembleOptions {
  readonly clock?: Clock;
  /** Limits count only in this process, whatever store is configured. */
  readonly limitsInMemory?: boolean;
  /** Used instead of the configured store of limits: one by the clock of a simulation. */
  readonly limitStore?: LimitStore;
}

/**
 * Assembles the gateway of this process: first the calls of dead processes are settled (the primary does so for its
 * workers), then money, journal and snapshots are set up; only then may a request be served.
 */
export async function assemble(
  env: Env,
  { db, upstreams, worker, openBooks }: AssembleContext,
  log: Logger,
  { clock = systemClock, limitsInMemory = false, limitStore }: AssembleOptions = {},
) {
  const ids = createIds(clock);
  const ownerId = worker?.ownerId ?? ids.newId() ?? crypto.randomUUID();
  const faults = createFaultLog(log, clock, env.outage.forMs);
  const { report } = faults;

  // Before old weeks are dropped: their rows show which calls of an old journal were posted.
  const shared = limitsInMemory
    ? null
    : await openSharedLimits({ env, db, ownerId, clock, log, limitStore, report });
  const open = { env, db, worker, ownerId, clock, log, shared, report };
  const books = await openBooks(open);
  const { journal, coordinator } = books;
  const partitions = await keepPartitions(db.pool, {
    clock,
    retentionDays: env.callRetentionDays,
    report: (error) => report(error, null),
  });
  const funds = repeat(
    FUNDS_MS,
    () => Promise.all([expirePromos(db.pool), tellLowBalances(db.pool)]),
    (error) => report(error, null),
  );
  const folding = keepFolded(db.pool, clock, (error) => report(error, null));

  const memory = await remember({
    env,
    db,
    clock,
    journal,
    report: (error) => report(error, null),
    envSecret: (name) => upstreams.envSecret(name) ?? undefined,
    databaseAnswers: faults.databaseAnswers,
    recall: (kind, id) => coordinator.recall(kind, id),
  });
  const { keys, resources, catalogue, feed } = memory;
  const health = createHealth();
  const offers = () => listOffers(catalogue(), health, clock.now());
  const simulated = env.sandbox ? upstreams.envSecret('SANDBOX_URL') : null;
  const pools = createPools(directTo(env.proxies, simulated));
  const warn = (fields: object, message: string) => log.warn(fields, message);
  const access = createAccess({
    clock,
    pools,
    catalogue,
    variable: (name) => upstreams.envSecret(name),
    warn,
  });
  const chargeFlags = new ChargeFlags(warn);
  const openedJobs = openJobs({
    charged: (charge) => chargeFlags.charged(charge, clock.now()),
    pool: db.pool,
    ownerId,
    pools,
    access,
    clock,
    catalogue,
    ownKey: memory.ownKey,
    report,
  });
  const { jobs } = openedJobs;
  const tally = new Tally();
  const state = (): ProcessState => ({
    ready: coordinator.ready(),
    databaseUp: !faults.isDatabaseAway(),
    callsInFlight: coordinator.openCalls(),
    sockets: tally.sockets,
    limitStore: shared?.storeAnswers ?? null,
    journalBacklog: books.backlog(),
    journalOldestMs: books.oldestMs(),
    setAside: books.setAside(),
    leases: coordinator.leaseTotals(),
    jobs: jobs.counts,
    content: content?.counts() ?? { kept: 0, lost: 0 },
    contentPlace: content?.answers() ?? null,
  });
  const answers: Answers = {
    health: () => JSON.stringify(health.list()),
    use: (id) => JSON.stringify(coordinator.limitUse(id)),
    status: () => statusText(process.pid, worker?.number ?? null, state(), offers()),
  };
  const stopListening = await listenForPolls(env.dataDir, () => feed.poll(), answers);

  const objects = new ObjectThread(env.contentStore);
  const { target } = env.contentStore;
  const place = target === null ? inDatabase(db.pool) : inObjects(db.pool, objects, target);
  const content = env.content
    ? new ContentKeeper(place, sealingKeysOf(env), (error) => report(error, null))
    : null;
  const counts =
    content && repeat(COUNTS_MS, writesCounts(db.pool, ownerId, content), (error) => report(error, null));
  // The log says at once what is wrong with a store; no start waits for it.
  if (target !== null) objects.check().catch((error) => log.warn({}, messageOf(error)));
  let sweeping = true;
  // Also without CONTENT_STORE: what was kept in a store before is deleted from it.
  const sweep = repeat(
    SWEEP_MS,
    () => deleteObjects(db.pool, objects, () => !sweeping),
    (error) => {
      if (sweeping) report(error, null);
    },
  );
  const keptAnswers = env.content
    ? new KeptAnswers({
        pool: db.pool,
        sealingKey: sealingKeysOf(env),
        secret: env.keyPepper,
        clock,
        report: (error) => report(error, null),
      })
    : null;
  const spool = takeOwnDirectory(join(env.dataDir, 'tmp'));
  const runtime: Runtime = {
    clock,
    newId: ids.newId,
    fallbackId: ids.fallbackId,
    keys,
    catalogue,
    coordinator,
    journal,
    resources,
    fileRoom: openFileRoom(db.pool, { files: env.maxWorkspaceFiles, bytes: env.maxWorkspaceFileBytes }),
    jobs,
    adjustments: openedJobs.adjustments,
    pools,
    access,
    health,
    credentialCounts: new CredentialCounts(clock, shared),
    holders: new Holders(),
    limits: {
      maxBodyBytes: env.maxBodyBytes,
      maxUploadBytes: env.maxUploadBytes,
      bodyPace,
    },
    signOfLife: env.signOfLife,
    closesStreams: env.shutdownDelayMs > 0,
    origins: new Set(env.corsOrigins),
    uploads: openSpoolRoom(spool.path, MOST_UPLOADS * env.maxUploadBytes),
    uploadTickets: createUploadTickets(sealingKeysOf(env)),
    secure: env.nextAuthUrl?.startsWith('https:') ?? false,
    bodies: createBodyBudget(env.bodyBudgetBytes),
    content,
    answers: keptAnswers,
    drains: new Drains(),
    refusals: new RefusalPace(),
    tally,
    chargeFlags,
    offerFaults: new OfferFaults(warn),
    report,
  };
  setRuntime(runtime);

  return {
    /** What requests use. */
    runtime,
    /** Its answers to other processes of this machine; parts that are made later add theirs. */
    answers,
    /** Reads the change feed now, so that a change by this process is in force at once. */
    pollNow: async () => {
      await feed.poll();
    },
    /** Whether new calls can be admitted; /api/health answers by it. */
    ready: () => coordinator.ready(),
    /** The current state of the process, and of its offers and credentials, for metrics. */
    state,
    offers,
    credentials: () => listCredentials(catalogue(), health),
    /** The state of the exporter; null while it is off. */
    telemetry: books.telemetry,
    /** Refuses new calls and waits until the running calls have settled, at most `patienceMs`. */
    finishCalls: async (patienceMs: number) => {
      coordinator.halt('it is stopping, send the request again');
      const untilMs = clock.mono() + patienceMs;
      while (coordinator.openCalls() > 0 && clock.mono() < untilMs) {
        // No client waits for these, but an answer that the exit cuts off would be charged too little.
        if (clock.mono() >= untilMs - CUT_DRAINS_MS) runtime.drains.stop();
        await pause(FINISH_POLL_MS);
      }
    },
    /** Posts what is in the journal, returns the leases, closes sockets and pools. */
    stop: async () => {
      setRuntime(null);
      await stopListening();
      await openedJobs.stop();
      access.stop();
      await counts?.stop();
      await content?.stop();
      sweeping = false;
      await objects.stop();
      await sweep.stop();
      keptAnswers?.stop();
      await memory.close();
      await books.close();
      await Promise.all([partitions.stop(), folding.stop(), funds.stop()]);
      await runtime.pools.close();
      spool.remove();
    },
  };
}

/** The gateway of this process: the runtime that requests use, and how it stops. */
export type GatewayProcess = Awaited<ReturnType<typeof assemble>>;
