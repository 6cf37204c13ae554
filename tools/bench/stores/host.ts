// A node process that hosts some of the simulated gateways: `host.ts SPEED ORIGIN_MS`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { pino } from 'pino';
import { startAlerts } from '#lib/control/alerts/worker';
import { openOutboxOf } from '#lib/control/mail/open-outbox';
import { startViews } from '#lib/control/views/worker';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { postgresqlStore } from '#lib/gateway/limits/store/postgresql';
import { redisStore } from '#lib/gateway/limits/store/redis';
import { openDb } from '#lib/platform/data/db';
import { readEnv } from '#lib/platform/env/env';
import { sealingKeysOf } from '#lib/platform/sealing';
import { assemble, type GatewayProcess } from '#lib/programs/process/assemble';
import { openJournalBooks } from '#lib/programs/process/books/journal-books';
import { secrets } from '#tests/support/shared/attach';
import { closeOf } from '../settlement/calls.ts';
import type { FromHost, HostPlan, ToHost } from './messages.ts';
import { fleetClock } from './scaled-time.ts';

/** How long calls take on average, and their checkpoints, ms of the fleet's time. */
const CALL_MS = 3_000;
const CHECKPOINT_MS = 1_000;
/** What a call holds, nano-dollars; it is charged a third to a half of that. */
const HOLD_NANO = 30_000_000n;
/** As the gateway waits for its stores, but in real time: at other speeds, a busy machine would make them late. */
const PATIENCE_MS = 60_000;

interface Simulated {
  readonly running: GatewayProcess;
  stop(): Promise<void>;
}

const counts = { calls: 0, refused: 0, waited: 0, waitedMs: 0, roundTrips: 0 };
const errors = new Map<string, number>();
const simulated: Simulated[] = [];
let plan: HostPlan | null = null;
let loading = false;

const query = Client.prototype.query;
Client.prototype.query = function counted(this: Client, ...given: unknown[]) {
  counts.roundTrips += 1;
  return Reflect.apply(query, this, given);
} as typeof query;

function failed(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  errors.set(text, (errors.get(text) ?? 0) + 1);
}

const log = pino({ level: 'error' }, { write: (line: string) => failed(JSON.parse(line).reason ?? line) });

/** One gateway without its listeners: everything that it asks of the stores by itself. */
async function startOne({ databaseUrl, redisUrl }: HostPlan): Promise<Simulated> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-stores-'));
  const env = readEnv({ ...secrets, DATABASE_URL: databaseUrl, DATA_DIR: dataDir });
  const [db, operationsDb] = [openDb(databaseUrl, { onError: failed }), openDb(databaseUrl)];
  const context = {
    db,
    upstreams: { envSecret: () => null },
    worker: null,
    openBooks: openJournalBooks,
  };
  const options = { clock: fleetClock, limitStore: openStore(databaseUrl, redisUrl) };
  const running = await assemble(env, context, log, options);
  const outbox = openOutboxOf(env, operationsDb, { publicUrl: 'http://localhost', report: failed });
  const control = [
    startAlerts({
      pool: operationsDb.pool,
      sealingKey: sealingKeysOf(env),
      limitUse: async () => [],
      report: failed,
    }),
    startViews({ db: operationsDb, mails: false, report: failed }),
  ];
  return {
    running,
    stop: async () => {
      await Promise.all(control.map((one) => one.stop()));
      await outbox.stop();
      await running.stop();
      await Promise.all([db.close(), operationsDb.close()]);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A store of limits by the fleet's clock. */
function openStore(databaseUrl: string, redisUrl: string | null): LimitStore {
  const options = { patienceMs: PATIENCE_MS, onError: failed };
  if (redisUrl === null) {
    return postgresqlStore(databaseUrl, { ...options, clock: () => `${fleetClock.now()}` });
  }
  const clock = {
    script: 'local now = tonumber(ARGV[2])',
    nowText: () => `${Math.round(fleetClock.now() * 1000)}`,
  };
  return redisStore(redisUrl, { ...options, clock });
}

/** Calls at random moments, at the rate of the plan. */
function load(one: GatewayProcess, { rate, workspaces }: HostPlan): void {
  if (rate === 0) return;
  const busy = shares(workspaces.length);
  const next = () => {
    if (!loading) return;
    setTimeout(next, (-Math.log(1 - Math.random()) * 1000) / rate);
    const keys = workspaces[pick(busy)] ?? [];
    const secret = keys[Math.floor(Math.random() * keys.length)];
    if (secret) call(one, secret).catch(failed);
  };
  next();
}

/** A call from its key to its end in the journal, as `serve` makes it of them. */
async function call({ runtime }: GatewayProcess, secret: string): Promise<void> {
  const { clock, keys, coordinator, journal } = runtime;
  if (!keys || !coordinator || !journal) throw new Error('this gateway keeps no books');
  counts.calls += 1;
  const snapshot = await keys.read(secret);
  if ('code' in snapshot) throw new Error(snapshot.message);
  const callId = runtime.newId() ?? runtime.fallbackId();
  const atMs = clock.now();
  const sinceMono = clock.mono();
  const asked = coordinator.claim({
    callId,
    atMs,
    snapshot,
    need: 'generate',
    holdNano: HOLD_NANO,
    tokens: 2_000,
  });
  const claim = await asked;
  if (asked instanceof Promise) {
    counts.waited += 1;
    counts.waitedMs += clock.mono() - sinceMono;
  }
  if ('code' in claim) {
    counts.refused += 1;
    return;
  }
  const close = recordOf(snapshot, callId, atMs);
  const { funding, holdNano, tokens } = claim;
  const record = { ...close.call, holdNano };
  await journal.append({
    kind: 'open',
    callId,
    atMs,
    holdNano,
    tokens,
    funding,
    call: { ...record, status: 0 },
  });
  const takesMs = -Math.log(1 - Math.random()) * CALL_MS;
  for (let left = takesMs; left > 0; left -= CHECKPOINT_MS) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, CHECKPOINT_MS)));
    if (left > CHECKPOINT_MS) await journal.append({ kind: 'checkpoint', callId, call: record });
  }
  await journal.append({ ...close, funding, call: record });
  coordinator.release(claim, { atMs: clock.now(), chargeNano: record.costNano, tokens: null });
}

function recordOf({ key, workspace }: KeySnapshot, callId: string, atMs: number) {
  const own = [{ workspaceId: workspace.id, keyId: key.id }];
  const close = closeOf(own, Math.floor(Math.random() * 10_000), atMs);
  return { ...close, callId, call: { ...close.call, id: callId } };
}

/** The n-th is called 1/n as often as the first: cumulative shares. */
function shares(count: number): number[] {
  let sum = 0;
  const sums = Array.from({ length: count }, (_, at) => {
    sum += 1 / (at + 1);
    return sum;
  });
  return sums.map((one) => one / sum);
}

function pick(busy: readonly number[]): number {
  const drawn = Math.random();
  return busy.findIndex((share) => drawn < share);
}

function tell(message: FromHost): void {
  process.send?.(message);
}

// Without the bench there is nothing to simulate.
process.on('disconnect', () => process.exit(1));
process.on('message', (message: ToHost) => void heed(message).catch(failed));

async function heed(message: ToHost): Promise<void> {
  if (message.kind === 'start') {
    plan = message.plan;
    for (let made = 0; made < plan.processes; made++) {
      const one = await startOne(plan);
      simulated.push(one);
      // As after an hour: every key is in memory.
      for (const secret of plan.workspaces.flat()) await one.running.runtime.keys?.read(secret);
    }
    tell({ kind: 'ready' });
  } else if (message.kind === 'load') {
    loading = true;
    for (const { running } of simulated) if (plan) load(running, plan);
  } else if (message.kind === 'count') {
    const { user, system } = process.cpuUsage();
    const backlog = simulated.reduce((sum, { running }) => sum + running.state().journalBacklog, 0);
    const told = [...errors].map(([text, times]) => `${times} × ${text}`);
    tell({ kind: 'counted', ...counts, backlog, spentUs: user + system, errors: told });
  } else {
    loading = false;
    // Running calls end first.
    await Promise.all(simulated.map(({ running }) => running.finishCalls(30_000)));
    await Promise.all(simulated.map((one) => one.stop()));
    process.exit(0);
  }
}
