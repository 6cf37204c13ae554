import { randomUUID } from 'node:crypto';
import { verifyLedger } from '#lib/control/billing/verify';
import type { JobSight, NewJob } from '#lib/core/facts/job';
import { videos } from '#lib/core/families/videos';
import { noClouds } from '#lib/gateway/clouds/access';
import { JobStore } from '#lib/gateway/jobs/job-store';
import { createJobs, type RunningJobs } from '#lib/gateway/jobs/jobs';
import { createPoll, type Poll } from '#lib/gateway/jobs/poll';
import { type Sweep, startSweep } from '#lib/gateway/jobs/sweep';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { createPools, type Pools } from '#lib/gateway/upstream/pools';
import { type Db, openDb } from '#lib/platform/data/db';
import { createFilledDatabase } from '#tests/support/database';
import { type SandboxProcess, startSandboxProcess } from '#tests/support/provider/process';
import { type Customer, createCustomer, newId } from '#tests/support/settlement';

/** What a video of 4 seconds costs at sandbox/film, nano-dollars. */
export const FILM_NANO = 400_000_000n;

/** The jobs of one gateway process. */
export interface JobProcess {
  readonly jobs: RunningJobs;
  readonly store: JobStore;
  readonly poll: Poll;
  /** Starts polling what is due. @param poll instead of the process's own. */
  sweep(poll?: Poll): Sweep;
}

/** Jobs on a real database, at the simulated provider, under a clock that tests move. */
export interface Stage {
  readonly db: Db;
  readonly sandbox: SandboxProcess;
  readonly first: JobProcess;
  /** Another process on the same database. */
  readonly second: JobProcess;
  readonly errors: unknown[];
  /** Moves the clock of both processes ahead, which else stands still. */
  pass(hours: number): void;
  customer(given?: Parameters<typeof createCustomer>[1]): Promise<Customer>;
  /**
   * Begins a job at the provider and opens it as the pipeline does.
   * @param how parameters of its name, see tools/sandbox/scenario/job.ts.
   */
  begin(
    customer: Customer,
    how?: string,
    given?: { holdNano?: bigint; hold?: boolean; providerId?: string; credential?: string },
  ): Promise<NewJob>;
  /** What the provider says of a job now. */
  ask(job: NewJob): Promise<unknown>;
  row(job: NewJob): Promise<JobRow>;
  /** Ledger lines of a job, nano-dollars. */
  lines(job: NewJob): Promise<bigint[]>;
  /** Hold rows of a job, nano-dollars. */
  holds(job: NewJob): Promise<bigint[]>;
  balance(customer: Customer): Promise<bigint>;
  /** The rows that break an invariant. */
  broken(): Promise<unknown[]>;
  close(): Promise<void>;
}

interface JobRow {
  readonly state: string;
  readonly settled: boolean;
  readonly lost: boolean;
  readonly cost: string;
  readonly over: string;
  readonly source: string;
  readonly flags: string[];
  readonly polls: number;
  readonly misses: number;
  /** Until its next poll, s; null: none. */
  readonly nextIn: number | null;
}

export async function startStage(): Promise<Stage> {
  const [database, sandbox] = await Promise.all([createFilledDatabase(), startSandboxProcess()]);
  const db = openDb(database.url, { onError: () => {} });
  const values = new Map([
    ['SANDBOX_URL', sandbox.url],
    ['SANDBOX_KEY', sandbox.key],
  ]);
  const catalogue = await loadCatalogue(db.pool, { envSecret: (name) => values.get(name), sealingKey: null });
  const offer = await db.pool.query<{ offer: string; price: string }>(
    `SELECT o.id AS offer, v.id AS price FROM offer o JOIN price_version v ON v.offer_id = o.id
     WHERE o.model_id = 'sandbox/film'`,
  );
  const ownerId = randomUUID();
  await db.pool.query(
    `INSERT INTO owner (id, machine, pid, expires_at) VALUES ($1, 'test', 1, now() + interval '1 hour')`,
    [ownerId],
  );
  const errors: unknown[] = [];
  const pools: Pools[] = [];
  // It stands still: a busy machine adds nothing to the time until a poll.
  let nowMs = Date.now();
  const clock = { now: () => nowMs };
  const report = (error: unknown) => errors.push(error);

  const start = (): JobProcess => {
    const own = createPools();
    pools.push(own);
    const store = new JobStore(db.pool);
    const poll = createPoll({
      pools: own,
      access: noClouds,
      catalogue: () => catalogue,
      ownKey: () => Promise.resolve(null),
    });
    const jobs = createJobs({ clock, store, poll, collect: async () => true, report });
    return {
      jobs,
      store,
      poll,
      sweep: (instead = poll) => startSweep({ clock, store, jobs, poll: instead, report, everyMs: 20 }),
    };
  };
  const first = start();
  const headers = { authorization: `Bearer ${sandbox.key}`, 'content-type': 'application/json' };

  return {
    db,
    sandbox,
    first,
    second: start(),
    errors,
    pass: (hours) => {
      nowMs += hours * 3_600_000;
    },
    customer: (given = {}) => createCustomer(db.pool, given),
    async begin(
      customer,
      how = 'job_ms=0',
      { holdNano = FILM_NANO, hold = true, providerId = 'sandbox', credential = 'default' } = {},
    ) {
      const body = JSON.stringify({ model: 'film', prompt: `A film [[film?${how}]]`, seconds: '4' });
      const answer = await (await fetch(`${sandbox.url}/videos`, { method: 'POST', headers, body })).json();
      const job: NewJob = {
        callId: newId(),
        ...customer,
        family: 'videos',
        kind: 'video',
        id: answer.id,
        providerId,
        credential,
        modelId: 'sandbox/film',
        upstreamModel: 'film',
        offerId: offer.rows[0]?.offer ?? '',
        priceVersionId: offer.rows[0]?.price ?? '',
        holdNano,
        facts: { seconds: 4 },
        sight: { state: 'queued', report: null, view: { id: answer.id } },
        createdAtMs: clock.now(),
      };
      if (hold) {
        await db.pool.query(
          `INSERT INTO hold (call_id, owner_id, workspace_id, key_id, amount_nano, admitted_at)
           VALUES ($1, $2, $3, $4, $5, $6)`,
          [job.callId, ownerId, job.workspaceId, job.keyId, `${holdNano}`, new Date(job.createdAtMs)],
        );
      }
      await first.jobs.open(job);
      return job;
    },
    ask: async (job) => (await fetch(`${sandbox.url}/videos/${job.id}`, { headers })).json(),
    async row(job) {
      const { rows } = await db.pool.query(
        `SELECT state, settled_at IS NOT NULL AS settled, lost_at IS NOT NULL AS lost, cost_nano::text AS cost,
           over_hold_nano::text AS over, usage_source AS source, flags, polls, misses, next_poll_at
         FROM job WHERE call_id = $1`,
        [job.callId],
      );
      const { next_poll_at: next, ...rest } = rows[0];
      return { ...rest, nextIn: next === null ? null : Math.round((next.getTime() - clock.now()) / 1000) };
    },
    async lines(job) {
      const { rows } = await db.pool.query(
        `SELECT (-cost_nano)::text AS amount FROM job WHERE call_id = $1 AND cost_nano <> 0 AND lost_at IS NULL
         UNION ALL SELECT amount_nano::text FROM ledger_line WHERE kind = 'adjustment' AND ref = $1::text`,
        [job.callId],
      );
      return rows.map((row) => BigInt(row.amount));
    },
    async holds(job) {
      const { rows } = await db.pool.query(
        'SELECT amount_nano::text AS amount FROM hold WHERE call_id = $1',
        [job.callId],
      );
      return rows.map((row) => BigInt(row.amount));
    },
    async balance({ workspaceId }) {
      const { rows } = await db.pool.query('SELECT balance_nano::text AS nano FROM workspace WHERE id = $1', [
        workspaceId,
      ]);
      return BigInt(rows[0].nano);
    },
    async broken() {
      const { checks } = await verifyLedger(db);
      return checks.filter((check) => check.rows.length > 0);
    },
    async close() {
      for (const one of pools) await one.close();
      await sandbox.close();
      await db.close();
      await database.drop();
    },
  };
}

/** An answer of the provider as the family reads it. */
export function sightIn(job: NewJob, answer: unknown): JobSight {
  const sight = videos.jobs?.read(job.facts, answer);
  if (!sight) throw new Error('the answer shows no job');
  return sight;
}
