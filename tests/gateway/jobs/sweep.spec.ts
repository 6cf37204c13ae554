import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NewJob } from '#lib/core/facts/job';
import { JobStore } from '#lib/gateway/jobs/job-store';
import type { Poll } from '#lib/gateway/jobs/poll';
import type { Sweep } from '#lib/gateway/jobs/sweep';
import { FILM_NANO, type Stage, sightIn, startStage } from '#tests/gateway/jobs/stage';
import { eventually } from '#tests/support/eventually';

let stage: Stage;
const sweeps: Sweep[] = [];
beforeAll(async () => {
  stage = await startStage();
});
afterEach(async () => {
  await Promise.all(sweeps.splice(0).map((sweep) => sweep.stop()));
});
afterAll(async () => {
  expect(await stage.broken()).toEqual([]);
  await stage.close();
});

const seconds = (count: number) => count / 3_600;

function sweep(by: 'first' | 'second' = 'first', poll?: Poll): void {
  sweeps.push(stage[by].sweep(poll));
}

/** Lets a job be due and polled once. */
async function pollOnce(job: NewJob): Promise<void> {
  const { polls, nextIn } = await stage.row(job);
  stage.pass(seconds(Math.max(0, nextIn ?? 0) + 1));
  sweep();
  // While it is being polled, it is due again in 90 s.
  await eventually(async () => {
    const row = await stage.row(job);
    return row.polls === polls + 1 && !(row.nextIn !== null && row.nextIn > 80 && row.nextIn < 91);
  }, true);
  await Promise.all(sweeps.splice(0).map((one) => one.stop()));
}

describe('a job that no client asks for', () => {
  it('is polled and charged once it completed, by one of two processes', async () => {
    const jobs: NewJob[] = [];
    const customer = await stage.customer();
    for (let count = 0; count < 20; count += 1) jobs.push(await stage.begin(customer));
    const asked: string[] = [];
    const counting =
      (poll: Poll): Poll =>
      (job, signal) => {
        asked.push(job.callId);
        return poll(job, signal);
      };
    stage.pass(seconds(6));
    sweep('first', counting(stage.first.poll));
    sweep('second', counting(stage.second.poll));
    const charges = async () => Promise.all(jobs.map((job) => stage.lines(job)));
    await eventually(
      charges,
      jobs.map(() => [-FILM_NANO]),
    );
    expect(await stage.balance(customer)).toBe(1_000_000_000_000n - 20n * FILM_NANO);
    expect(asked.toSorted()).toEqual(jobs.map((job) => job.callId).toSorted());
  });

  it('is released once it failed', async () => {
    const job = await stage.begin(await stage.customer(), 'job=failed&job_ms=0');
    await pollOnce(job);
    expect(await stage.row(job)).toMatchObject({ state: 'failed', settled: true, cost: '0' });
    expect(await stage.holds(job)).toEqual([]);
  });

  it('is polled after 5 s, 10 s, 20 s, 40 s, and every 60 s from then on', async () => {
    const job = await stage.begin(await stage.customer(), 'job=never&job_ms=0');
    const pauses = [(await stage.row(job)).nextIn];
    for (let poll = 0; poll < 5; poll += 1) {
      await pollOnce(job);
      pauses.push((await stage.row(job)).nextIn);
    }
    expect(pauses).toEqual([5, 10, 20, 40, 60, 60]);
    expect(await stage.row(job)).toMatchObject({ state: 'running', settled: false });
  });

  it('is asked for at once when the process that took it has ended (contract: jobs/polling)', async () => {
    const job = await stage.begin(await stage.customer());
    const ownerId = randomUUID();
    await stage.db.pool.query(
      `INSERT INTO owner (id, machine, pid, expires_at) VALUES ($1, 'test', 1, now() + interval '1 hour')`,
      [ownerId],
    );
    const store = new JobStore(stage.db.pool, () => {}, ownerId);
    const nowMs = Date.now() + 1e9;
    const leasedUntilMs = nowMs + 90_000;
    const take = async (process: JobStore) => {
      await process.endClaims(nowMs);
      const taken = await process.takeDue({ nowMs, leasedUntilMs, most: 100, busy: [] });
      return taken.map(({ callId }) => callId);
    };
    expect(await take(store)).toContain(job.callId);
    expect(await take(stage.second.store)).toEqual([]);
    await stage.db.pool.query('DELETE FROM owner WHERE id = $1', [ownerId]);
    expect(await take(stage.second.store)).toContain(job.callId);
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
  });

  it('is asked for by another process 90 s after the one that took it died', async () => {
    const job = await stage.begin(await stage.customer());
    const nowMs = Date.now() + 1e9;
    const taken = await stage.first.store.takeDue({
      nowMs: nowMs,
      leasedUntilMs: nowMs + 90_000,
      most: 100,
      busy: [],
    });
    expect(taken.map((one) => one.callId)).toContain(job.callId);
    expect(
      await stage.second.store.takeDue({
        nowMs: nowMs + 89_000,
        leasedUntilMs: nowMs + 179_000,
        most: 100,
        busy: [],
      }),
    ).toEqual([]);
    const again = await stage.second.store.takeDue({
      nowMs: nowMs + 90_000,
      leasedUntilMs: nowMs + 180_000,
      most: 100,
      busy: [],
    });
    expect(again.map((one) => one.callId)).toContain(job.callId);
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
  });
});

describe('a provider that does not know the job (contract: jobs/gone)', () => {
  it('three times in a row ends it, released', async () => {
    const job = await stage.begin(await stage.customer(), 'job=gone&job_ms=0');
    await pollOnce(job);
    await pollOnce(job);
    expect(await stage.row(job)).toMatchObject({ settled: false, misses: 2 });
    await pollOnce(job);
    expect(await stage.row(job)).toMatchObject({
      state: 'failed',
      settled: true,
      cost: '0',
      flags: ['job_gone'],
    });
  });

  it('only once changes nothing', async () => {
    const job = await stage.begin(await stage.customer(), 'job=never&job_ms=0');
    const stored = await stage.first.store.find(job.callId);
    if (!stored) throw new Error('the job has no row');
    await stage.first.jobs.learn(stored, { kind: 'missing' });
    expect(await stage.row(job)).toMatchObject({ misses: 1 });
    await pollOnce(job);
    expect(await stage.row(job)).toMatchObject({ misses: 0, settled: false });
  });
});

describe('a provider that cannot answer', () => {
  it.each(['fault/status-500', 'fault/status-401', 'fault/reset', 'fault/garbage'])(
    'for %s is asked again later',
    async (fault) => {
      const job = await stage.begin(await stage.customer(), `get=${fault}&job_ms=0`);
      await pollOnce(job);
      await pollOnce(job);
      expect(await stage.row(job)).toMatchObject({ settled: false, misses: 0, nextIn: 20 });
      expect(await stage.holds(job)).toEqual([FILM_NANO]);
    },
  );

  it('is logged without a secret if the operator must act', async () => {
    stage.errors.length = 0;
    const job = await stage.begin(await stage.customer(), 'get=fault/status-401&job_ms=0');
    await pollOnce(job);
    const told = stage.errors.map(String).join();
    expect(told).toContain('sandbox refuses to show a job (401)');
    expect(told).not.toContain(stage.sandbox.key);
  });
});

describe('a job without an end after 24 hours (contract: jobs/lost)', () => {
  const lose = async (how = 'job=never&job_ms=0') => {
    const job = await stage.begin(await stage.customer(), how);
    stage.pass(24);
    await pollOnce(job);
    return job;
  };

  it('is released, flagged, and polled hourly', async () => {
    const job = await lose();
    expect(await stage.row(job)).toMatchObject({
      lost: true,
      settled: false,
      flags: ['job_lost'],
      nextIn: 3_600,
    });
    expect(await stage.holds(job)).toEqual([]);
    await pollOnce(job);
    expect(await stage.row(job)).toMatchObject({ settled: false, flags: ['job_lost'], nextIn: 3_600 });
  });

  it('is charged without a hold when it completes nevertheless', async () => {
    const job = await lose();
    const done = await stage.ask(await stage.begin(await stage.customer()));
    const stored = await stage.first.store.find(job.callId);
    if (!stored) throw new Error('the job has no row');
    await stage.first.jobs.learn(stored, { kind: 'seen', sight: sightIn(job, done) });
    expect(await stage.lines(job)).toEqual([-FILM_NANO]);
    expect(await stage.row(job)).toMatchObject({ state: 'completed', settled: true, over: '0' });
    const told = await stage.db.pool.query(`SELECT kind FROM change WHERE subject = $1`, [
      `workspace:${job.workspaceId}`,
    ]);
    expect(told.rows).toEqual([{ kind: 'lease' }]);
  });

  it('is given up 7 days later, released', async () => {
    const job = await lose();
    stage.pass(7 * 24);
    await pollOnce(job);
    expect(await stage.row(job)).toMatchObject({ settled: true, cost: '0', lost: true, nextIn: null });
  });

  it('that completed meanwhile, while no process ran, is charged in full', async () => {
    const job = await lose('job_ms=0');
    expect(await stage.row(job)).toMatchObject({ settled: true, lost: false, cost: `${FILM_NANO}` });
  });
});

describe('the sweeper (contract: jobs/polling)', () => {
  it('polls at most 8 jobs of a provider at once', async () => {
    const customer = await stage.customer();
    const jobs: NewJob[] = [];
    for (let count = 0; count < 20; count += 1) jobs.push(await stage.begin(customer));
    stage.pass(seconds(6));
    let now = 0;
    let most = 0;
    const eight = Promise.withResolvers<void>();
    sweep('first', async (job, signal) => {
      now += 1;
      most = Math.max(most, now);
      if (now === 8) eight.resolve();
      await eight.promise;
      // A ninth would come meanwhile.
      await pause(30);
      const polled = await stage.first.poll(job, signal);
      now -= 1;
      return polled;
    });
    const settled = async () =>
      (await Promise.all(jobs.map((job) => stage.row(job)))).every((row) => row.settled);
    await eventually(settled, true);
    expect(most).toBe(8);
  });

  it('lets no workspace whose own address is slow delay the jobs of others at the same provider', async () => {
    const [slow, other, customer] = [await stage.customer(), await stage.customer(), await stage.customer()];
    const own = { credential: `own:${randomUUID()}` };
    for (let count = 0; count < 12; count += 1) await stage.begin(slow, undefined, own);
    const theirs = [await stage.begin(other, undefined, own), await stage.begin(customer)];
    stage.pass(seconds(6));
    const waiting = new Set<string>();
    sweep('first', async (job, signal) => {
      if (job.workspaceId !== slow.workspaceId)
        return stage.first.poll({ ...job, credential: 'default' }, signal);
      waiting.add(job.callId);
      // Until the sweep is stopped.
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kind: 'later', why: null };
    });
    const settled = async () =>
      (await Promise.all(theirs.map((job) => stage.row(job)))).every((row) => row.settled);
    await eventually(settled, true);
    expect(waiting.size).toBe(8);
  });

  it('ends the polls under way when it is stopped, and leaves their jobs due', async () => {
    const job = await stage.begin(await stage.customer(), 'get=fault/stall&job_ms=0');
    stage.pass(seconds(6));
    const asked = Promise.withResolvers<void>();
    sweep('first', (one, signal) => {
      asked.resolve();
      return stage.first.poll(one, signal);
    });
    await asked.promise;
    await Promise.all(sweeps.splice(0).map((one) => one.stop()));
    const row = await stage.row(job);
    expect(row).toMatchObject({ settled: false, polls: 1 });
    expect(row.nextIn).toBeLessThanOrEqual(0);
    await stage.first.store.settle(job.callId, { kind: 'gone' });
  });

  it('lets no job wait for a provider that does not answer but its own', async () => {
    const customer = await stage.customer();
    const stuck: NewJob[] = [];
    for (let count = 0; count < 20; count += 1) {
      stuck.push(await stage.begin(customer, 'get=fault/stall&job_ms=0', { providerId: 'drained' }));
    }
    const others: NewJob[] = [];
    for (let count = 0; count < 20; count += 1) others.push(await stage.begin(customer));
    stage.pass(seconds(6));
    const asked: string[] = [];
    sweep('first', (job, signal) => {
      asked.push(job.providerId);
      return stage.first.poll(job, signal);
    });
    await eventually(
      async () => Promise.all(others.map((job) => stage.lines(job))),
      others.map(() => [-FILM_NANO]),
    );
    expect(asked.filter((id) => id === 'drained')).toHaveLength(8);
    const rows = await Promise.all(stuck.map((job) => stage.row(job)));
    expect(rows.filter((row) => row.polls === 1 && !row.settled)).toHaveLength(8);
    await Promise.all(sweeps.splice(0).map((one) => one.stop()));
    for (const job of stuck) await stage.first.store.settle(job.callId, { kind: 'gone' });
  });

  it('asks at once for what a clock that ran ahead has put off', async () => {
    const job = await stage.begin(await stage.customer(), 'job_ms=0');
    const stored = await stage.first.store.find(job.callId);
    if (!stored) throw new Error('the job has no row');
    await stage.first.store.note(job.callId, { nextPollAtMs: Date.now() + 365 * 86_400_000 });
    sweep();
    await eventually(async () => (await stage.row(job)).settled, true);
    const next = await stage.begin(await stage.customer(), 'job_ms=0');
    await stage.first.store.note(next.callId, { nextPollAtMs: Date.now() + 365 * 86_400_000 });
    stage.pass(-seconds(1));
    await eventually(async () => (await stage.row(next)).settled, true);
  });
});
