import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropPartitions, makePartitions } from '#lib/control/retention/partitions';
import type { NewJob } from '#lib/core/facts/job';
import { idTimeMs } from '#lib/platform/ids';
import { FILM_NANO, type Stage, sightIn, startStage } from '#tests/gateway/jobs/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(async () => {
  expect(await stage.broken()).toEqual([]);
  expect(stage.errors).toEqual([]);
  await stage.close();
});

const opening = 1_000_000_000_000n;

/** What a settled job has moved, all in one place. */
async function movedBy(job: NewJob) {
  const { rows } = await stage.db.pool.query(
    `SELECT k.spent_nano::text AS spent,
       (SELECT coalesce(sum(spent_nano), 0)::text FROM spend_minute s WHERE s.key_id = k.id) AS minutes,
       (SELECT coalesce(sum(cost_nano), 0)::text FROM usage_quarter u WHERE u.key_id = k.id) AS quarters,
       (SELECT coalesce(sum(calls), 0)::int FROM usage_quarter u WHERE u.key_id = k.id) AS calls
     FROM api_key k WHERE k.id = $1`,
    [job.keyId],
  );
  return {
    ...rows[0],
    lines: await stage.lines(job),
    holds: await stage.holds(job),
    balance: await stage.balance(job),
  };
}

const nothingMoved = {
  spent: '0',
  minutes: '0',
  quarters: '0',
  calls: 0,
  lines: [],
  holds: [],
  balance: opening,
};
const oneCharge = (nano: bigint) => ({
  spent: `${nano}`,
  minutes: `${nano}`,
  quarters: `${nano}`,
  calls: 0,
  lines: [-nano],
  holds: [],
  balance: opening - nano,
});

describe('a job that completes', () => {
  it('is charged when a client sees it completed: ledger, balance, key and sums in one', async () => {
    const job = await stage.begin(await stage.customer());
    expect(await movedBy(job)).toEqual({ ...nothingMoved, holds: [FILM_NANO] });
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
    expect(await movedBy(job)).toEqual(oneCharge(FILM_NANO));
    expect(await stage.row(job)).toMatchObject({ state: 'completed', settled: true, source: 'reported' });
  });

  it('is charged once when clients, pollers and two processes see it at once', async () => {
    const job = await stage.begin(await stage.customer());
    const answer = await stage.ask(job);
    const stored = await stage.first.store.find(job.callId);
    if (!stored) throw new Error('the job has no row');
    const sight = sightIn(job, answer);
    await Promise.all(
      [stage.first, stage.second].flatMap(({ jobs }) => [
        ...Array.from({ length: 6 }, () => jobs.saw(job.callId, answer)),
        ...Array.from({ length: 6 }, () => jobs.learn(stored, { kind: 'seen', sight })),
      ]),
    );
    expect(await movedBy(job)).toEqual(oneCharge(FILM_NANO));
  });

  it('at its create answer is charged at once', async () => {
    const customer = await stage.customer();
    const job = await stage.begin(customer, 'job=never');
    const ended: NewJob = { ...job, callId: crypto.randomUUID(), id: `${job.id}-2` };
    const done = await stage.begin(await stage.customer());
    const sight = sightIn(done, await stage.ask(done));
    await stage.first.jobs.open({ ...ended, sight });
    expect(await stage.lines(ended)).toEqual([-FILM_NANO]);
    expect(await stage.holds(ended)).toEqual([]);
  });

  it('above its hold is charged as reported, with the excess recorded and the leases asked back', async () => {
    const job = await stage.begin(await stage.customer(), 'job_ms=0', { holdNano: FILM_NANO / 4n });
    await stage.db.pool.query(
      `INSERT INTO lease (owner_id, kind, subject_id, granted_nano)
       SELECT id, 'workspace', $1::uuid, 5 FROM owner UNION ALL SELECT id, 'key', $2::uuid, 5 FROM owner`,
      [job.workspaceId, job.keyId],
    );
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
    expect(await movedBy(job)).toEqual(oneCharge(FILM_NANO));
    expect(await stage.row(job)).toMatchObject({ over: `${FILM_NANO - FILM_NANO / 4n}` });
    const { rows } = await stage.db.pool.query(
      'SELECT kind FROM lease WHERE subject_id = ANY ($1::uuid[]) AND recalled_at IS NOT NULL ORDER BY kind',
      [[job.workspaceId, job.keyId]],
    );
    expect(rows).toEqual([{ kind: 'key' }, { kind: 'workspace' }]);
    const told = await stage.db.pool.query('SELECT kind FROM change WHERE subject = ANY ($1) ORDER BY kind', [
      [job.workspaceId, `workspace:${job.workspaceId}`, `key:${job.keyId}`],
    ]);
    expect(told.rows.map((row) => row.kind)).toEqual(['lease', 'lease', 'workspace']);
  });

  it('within its hold recalls nothing', async () => {
    const job = await stage.begin(await stage.customer());
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
    const told = await stage.db.pool.query('SELECT 1 FROM change WHERE subject LIKE $1', [
      `%${job.workspaceId}%`,
    ]);
    expect(told.rows).toEqual([]);
  });

  it('in a strict workspace is never charged above its hold', async () => {
    const customer = await stage.customer();
    await stage.db.pool.query('UPDATE workspace SET strict = true WHERE id = $1', [customer.workspaceId]);
    const job = await stage.begin(customer, 'job_ms=0', { holdNano: 1_000n });
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
    expect(await movedBy(job)).toEqual(oneCharge(1_000n));
    expect(await stage.row(job)).toMatchObject({ over: '0', flags: ['strict_capped'] });
  });

  it('with an absurd report is charged at the bound and flagged', async () => {
    const job = await stage.begin(await stage.customer(), 'job_ms=0&made=900000');
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
    // 10 × the context of 10,000, at $0.10 a second.
    expect(await movedBy(job)).toEqual(oneCharge(100_000n * 100_000_000n));
    expect((await stage.row(job)).flags).toContain('usage_anomaly');
  });

  it('keeps the price that its create call was admitted under', async () => {
    const job = await stage.begin(await stage.customer());
    const dearer = { base: { videoSecond: '900000000000000' }, tiers: [], serviceTiers: {} };
    await stage.db.pool.query(
      'INSERT INTO price_version (id, offer_id, price) VALUES (gen_random_uuid(), $1, $2)',
      [job.offerId, JSON.stringify(dearer)],
    );
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
    expect(await stage.lines(job)).toEqual([-FILM_NANO]);
  });

  it('that uses up its key’s quota sets the flag and says so', async () => {
    const job = await stage.begin(await stage.customer({ quotaNano: FILM_NANO }));
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
    const { rows } = await stage.db.pool.query('SELECT quota_exhausted AS flag FROM api_key WHERE id = $1', [
      job.keyId,
    ]);
    expect(rows).toEqual([{ flag: true }]);
    const told = await stage.db.pool.query(`SELECT 1 FROM change WHERE kind = 'key' AND subject = $1`, [
      job.keyId,
    ]);
    expect(told.rowCount).toBe(1);
  });
});

it('a settled job goes with the week of its create call, what it cost stays in the ledger', async () => {
  const old = '01800000-0000-7000-8000-000000000002';
  const newer = await stage.begin(await stage.customer(), 'job=never');
  const job = { ...newer, callId: old, id: 'video_old', createdAtMs: idTimeMs(old) };
  await makePartitions(stage.db.pool, Date.now());
  const answer = await stage.ask(await stage.begin(await stage.customer()));
  await stage.first.jobs.open(job);
  await dropPartitions(stage.db.pool, Date.now(), 90);
  expect(await stage.holds(job)).toEqual([FILM_NANO]);
  await stage.first.jobs.saw(old, answer);
  await dropPartitions(stage.db.pool, Date.now(), 90);
  expect(await stage.first.store.find(old)).toBeNull();
  expect(await stage.broken()).toEqual([]);
  const { rows } = await stage.db.pool.query(
    `SELECT amount_nano::text AS amount, calls FROM ledger_line WHERE workspace_id = $1 AND kind = 'usage'`,
    [job.workspaceId],
  );
  expect(rows).toEqual([{ amount: `${-FILM_NANO}`, calls: 1 }]);
});

it('a job that fails is released', async () => {
  const job = await stage.begin(await stage.customer(), 'job=failed&job_ms=0');
  await stage.first.jobs.saw(job.callId, await stage.ask(job));
  expect(await movedBy(job)).toEqual(nothingMoved);
  expect(await stage.row(job)).toMatchObject({ state: 'failed', settled: true, nextIn: null });
});

it('an answer that is none of the job changes nothing', async () => {
  const job = await stage.begin(await stage.customer());
  await stage.first.jobs.saw(job.callId, { error: { message: 'overloaded' } });
  await stage.first.jobs.saw(job.callId, null);
  expect(await stage.row(job)).toMatchObject({ state: 'queued', settled: false });
});

describe('a job that its client removes', () => {
  const remove = async (how: string) => {
    const job = await stage.begin(await stage.customer(), how);
    const before = await stage.first.jobs.readFirst(job.callId);
    await stage.first.jobs.removed(job.callId, before, {
      id: job.id,
      object: 'video.deleted',
      deleted: true,
    });
    return { job, before, moved: await movedBy(job) };
  };

  it('before it ran is released', async () => {
    const { before, moved } = await remove('job=never&job_ms=1000000000');
    expect(before).toBe('queued');
    expect(moved).toEqual(nothingMoved);
  });

  it('while it runs is charged its hold, since the provider reports nothing', async () => {
    const { job, before, moved } = await remove('job=never&job_ms=0');
    expect(before).toBe('running');
    expect(moved).toEqual(oneCharge(FILM_NANO));
    expect(await stage.row(job)).toMatchObject({ state: 'cancelled', source: 'estimated' });
  });

  it('after it completed, unseen by anybody, is charged as it reports', async () => {
    const { before, moved } = await remove('job_ms=0&made=8');
    expect(before).toBe('completed');
    expect(moved).toEqual(oneCharge(2n * FILM_NANO));
  });

  it('is charged when the process dies before the provider has answered', async () => {
    const job = await stage.begin(await stage.customer(), 'job=never&job_ms=0');
    expect(await stage.first.jobs.readFirst(job.callId)).toBe('running');
    for (let tries = 0; tries < 3; tries += 1) {
      const stored = await stage.second.store.find(job.callId);
      if (stored) await stage.second.jobs.learn(stored, { kind: 'missing' });
    }
    expect(await movedBy(job)).toEqual(oneCharge(FILM_NANO));
  });

  it('is polled on if the provider refused to remove it', async () => {
    const job = await stage.begin(await stage.customer(), 'job=never&job_ms=0');
    await stage.first.jobs.readFirst(job.callId);
    expect(await stage.row(job)).toMatchObject({ settled: false });
    const answer = await stage.ask(await stage.begin(await stage.customer()));
    await stage.first.jobs.saw(job.callId, answer);
    expect(await movedBy(job)).toEqual(oneCharge(FILM_NANO));
  });
});

describe('opening a job', () => {
  it('twice changes nothing, also after it was settled', async () => {
    const job = await stage.begin(await stage.customer());
    await stage.second.jobs.open(job);
    expect(await stage.holds(job)).toEqual([FILM_NANO]);
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
    await stage.second.jobs.open(job);
    expect(await movedBy(job)).toEqual(oneCharge(FILM_NANO));
  });

  it('makes its hold again if another process has closed the holds of this one', async () => {
    const job = await stage.begin(await stage.customer(), 'job=never', { hold: false });
    expect(await stage.holds(job)).toEqual([FILM_NANO]);
  });

  it('makes its id findable as a job of its workspace', async () => {
    const job = await stage.begin(await stage.customer(), 'job=never');
    const { rows } = await stage.db.pool.query(
      'SELECT workspace_id, provider_id, call_id, job FROM resource WHERE kind = $1 AND id = $2',
      ['video', job.id],
    );
    expect(rows).toEqual([
      { workspace_id: job.workspaceId, provider_id: 'sandbox', call_id: job.callId, job: true },
    ]);
  });
});

describe('the list', () => {
  it('shows the jobs of a workspace in either order, page by page, without those removed', async () => {
    const customer = await stage.customer();
    const made: NewJob[] = [];
    for (let count = 0; count < 4; count += 1) made.push(await stage.begin(customer, 'job=never&job_ms=0'));
    const ids = made.map((job) => job.id);
    const [, second] = made;
    if (second) await stage.first.jobs.removed(second.callId, 'queued', { deleted: true });
    const list = async (after: string | null, order: 'asc' | 'desc') => {
      const page = { family: 'videos' as const, after, limit: 2, order };
      const { views, more } = await stage.first.jobs.list(customer.workspaceId, 'video', page);
      return { ids: views.map((view) => view.id), more };
    };
    expect(await list(null, 'desc')).toEqual({ ids: [ids[3], ids[2]], more: true });
    expect(await list(ids[2] ?? '', 'desc')).toEqual({ ids: [ids[0]], more: false });
    expect(await list(null, 'asc')).toEqual({ ids: [ids[0], ids[2]], more: true });
    expect(await list('video_unknown', 'desc')).toEqual({ ids: [], more: false });
    const other = await stage.customer();
    expect(
      (
        await stage.first.jobs.list(other.workspaceId, 'video', {
          family: 'videos',
          after: null,
          limit: 9,
          order: 'desc',
        })
      ).views,
    ).toEqual([]);
  });
});
