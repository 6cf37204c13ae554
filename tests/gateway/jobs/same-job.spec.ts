import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILM_NANO, type Stage, startStage } from '#tests/gateway/jobs/stage';
import { newId } from '#tests/support/settlement';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(async () => {
  expect(await stage.broken()).toEqual([]);
  expect(stage.errors).toEqual([]);
  await stage.close();
});

describe('a create call that its provider answers with a job that is open already', () => {
  it('opens no second job: it is held once and charged once, even if two open it at the same time', async () => {
    const job = await stage.begin(await stage.customer());
    const again = Array.from({ length: 4 }, () => ({ ...job, callId: newId() }));
    const opened = again.map((one, index) => (index % 2 ? stage.first : stage.second).jobs.open(one));
    await Promise.all(opened);
    for (const one of again) expect(await stage.holds(one)).toEqual([]);
    await stage.first.jobs.saw(job.callId, await stage.ask(job));
    const sweep = stage.second.sweep();
    await sweep.stop();
    expect(await stage.lines(job)).toEqual([-FILM_NANO]);
    for (const one of again) expect(await stage.lines(one)).toEqual([]);
    const { rows } = await stage.db.pool.query('SELECT call_id FROM job WHERE workspace_id = $1', [
      job.workspaceId,
    ]);
    expect(rows).toEqual([{ call_id: job.callId }]);
  });

  it('is another job to another workspace, and once the first was deleted or is a day old', async () => {
    const job = await stage.begin(await stage.customer());
    const other = { ...job, ...(await stage.customer()), callId: newId() };
    await stage.first.jobs.open(other);
    expect(await stage.holds(other)).toEqual([FILM_NANO]);
    const later = { ...job, callId: newId(), createdAtMs: job.createdAtMs + 86_400_001 };
    await stage.first.jobs.open(later);
    expect(await stage.holds(later)).toEqual([FILM_NANO]);
    await stage.db.pool.query('UPDATE resource SET deleted_at = now() WHERE workspace_id = $1', [
      job.workspaceId,
    ]);
    const again = { ...later, callId: newId() };
    await stage.first.jobs.open(again);
    expect(await stage.holds(again)).toEqual([FILM_NANO]);
  });
});
