import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import type { NewJob } from '#lib/core/facts/job';
import { openJournal } from '#lib/gateway/settlement/journal/journal';
import { recover } from '#lib/gateway/settlement/recover';
import { FILM_NANO, type Stage, startStage } from '#tests/gateway/jobs/stage';
import { inScratch } from '#tests/gateway/settlement/scratch';
import { callOf, closeOf, newDirectory, openOf } from '#tests/support/settlement';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(async () => {
  await stage.close();
});

const charged =
  'each job with a charge is settled, and has a ledger line of its own if it was given up before';
const posted =
  'each usage line is the cost of the calls and jobs that were settled in its quarter of an hour';
const held = 'a hold without a process belongs to a job that is not settled, and is what the job holds';
const asked = 'a job is polled until it is settled, and has ended then';

/** What goes wrong with a settled job or an open one ($1), and the check that must see it. */
const faults: readonly (readonly [what: string, check: string, of: 'settled' | 'open', sql: string])[] = [
  [
    'a charge that differs from its line',
    posted,
    'settled',
    'UPDATE job SET cost_nano = cost_nano + 1 WHERE call_id = $1',
  ],
  ['a charge before its end', charged, 'open', 'UPDATE job SET cost_nano = 5 WHERE call_id = $1'],
  [
    'a line that no job explains',
    'each ledger line that adjusts a call has its adjustment, or its job that was given up',
    'open',
    `INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, key_id)
     SELECT gen_random_uuid(), workspace_id, 'adjustment', call_id, -1, key_id FROM job WHERE call_id = $1`,
  ],
  [
    'a late charge without its line',
    charged,
    'settled',
    'UPDATE job SET lost_at = created_at WHERE call_id = $1',
  ],
  [
    'a hold that a settled job has left',
    held,
    'settled',
    `INSERT INTO hold SELECT call_id, NULL, workspace_id, key_id, 1, created_at FROM job WHERE call_id = $1`,
  ],
  [
    'a hold that is not what the job holds',
    held,
    'open',
    'UPDATE hold SET amount_nano = amount_nano - 1 WHERE call_id = $1',
  ],
  ['an open job that holds nothing', held, 'open', 'DELETE FROM hold WHERE call_id = $1'],
  [
    'an open job that nobody asks for',
    asked,
    'open',
    'UPDATE job SET next_poll_at = NULL WHERE call_id = $1',
  ],
  ['a job settled without an end', asked, 'settled', `UPDATE job SET state = 'running' WHERE call_id = $1`],
  [
    'a charge that its lines do not explain',
    'each charge of a job is the sum of its lines rounded up once, or its hold',
    'settled',
    `UPDATE job SET hold_nano = hold_nano + 7, lines = '[]' WHERE call_id = $1`,
  ],
  [
    'an excess that is not recorded',
    'the amount by which the charge of a job exceeds its hold is recorded',
    'settled',
    'UPDATE job SET over_hold_nano = 3 WHERE call_id = $1',
  ],
  [
    'a job of a strict workspace charged above its hold',
    'a job of a strict workspace is never charged above its hold',
    'settled',
    `WITH j AS (UPDATE job SET hold_nano = hold_nano - 1, over_hold_nano = 1 WHERE call_id = $1 RETURNING workspace_id)
     UPDATE workspace SET strict = true FROM j WHERE id = j.workspace_id`,
  ],
  [
    'a minute that lacks the job',
    'the minutes of spend agree with the calls, jobs and adjustments',
    'settled',
    `UPDATE spend_minute SET spent_nano = spent_nano - 1 WHERE key_id = (SELECT key_id FROM job WHERE call_id = $1)`,
  ],
  [
    'an hour that lacks the job',
    'the quarters of usage agree with the calls, jobs and adjustments',
    'settled',
    `UPDATE usage_quarter SET cost_nano = cost_nano - 1 WHERE key_id = (SELECT key_id FROM job WHERE call_id = $1)`,
  ],
];

describe('ledger verify', () => {
  let settled: NewJob;
  let open: NewJob;
  beforeAll(async () => {
    settled = await stage.begin(await stage.customer());
    await stage.first.jobs.saw(settled.callId, await stage.ask(settled));
    open = await stage.begin(await stage.customer(), 'job=never');
  });

  it('finds nothing wrong with an open and a settled job, and adds up what exceeded the holds', async () => {
    const above = await stage.begin(await stage.customer(), 'job_ms=0', { holdNano: FILM_NANO - 9n });
    await stage.first.jobs.saw(above.callId, await stage.ask(above));
    expect(await stage.broken()).toEqual([]);
    expect((await verifyLedger(stage.db)).overHoldNano).toBe(9n);
  });

  it.each(faults)('finds %s', async (_, check, of, sql) => {
    await inScratch(stage.db.pool, async (scratch) => {
      await scratch.query(sql, [(of === 'settled' ? settled : open).callId]);
      const found = (await verifyLedger({ pool: scratch })).checks.find((one) => one.name === check);
      expect(found?.rows).toHaveLength(1);
    });
  });
});

describe('a process that dies while it creates a job', () => {
  /** What it leaves: an open entry in its journal, and a hold row that it owns. */
  const leave = async (job: NewJob, ended: boolean) => {
    const dir = newDirectory();
    const { rows } = await stage.db.pool.query<{ id: string }>('SELECT id FROM owner LIMIT 1');
    const journal = openJournal(dir, rows[0]?.id ?? '', {
      report: () => {},
      onWritable: () => {},
      onFailure: (error) => stage.errors.push(error),
    });
    const customer = { workspaceId: job.workspaceId, keyId: job.keyId };
    const call = callOf(customer, {
      id: job.callId,
      costNano: 0n,
      holdNano: FILM_NANO,
      operation: 'videos.create',
    });
    await journal.append(openOf(call, 'row'));
    if (ended) await journal.append(closeOf(call, 'row'));
    return dir;
  };
  const revive = (dir: string) =>
    recover({ pool: stage.db.pool, dir, nowMs: Date.now(), report: (error) => stage.errors.push(error) });

  it.each([
    ['after the job was written', false],
    ['after its call was closed', true],
  ])('%s neither loses its hold nor charges it', async (_, ended) => {
    const job = await stage.begin(await stage.customer(), 'job=never&job_ms=0');
    const dir = await leave(job, ended);
    expect(await revive(dir)).toMatchObject({ interrupted: ended ? 0 : 1 });
    expect(await stage.holds(job)).toEqual([FILM_NANO]);
    expect(await stage.balance(job)).toBe(1_000_000_000_000n);
    await stage.first.jobs.removed(job.callId, 'queued', null);
  });
});
