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

/** Half of an emoji, as a text that was cut has it; a character that no text of the database holds. */
const texts = ['cut \ud83d', 'zero \0', '\udc00\ud800'];

describe('what a provider says of a job in characters that the database refuses', () => {
  it.each(texts)('does not keep it from ending: %j', async (message) => {
    const job = await stage.begin(await stage.customer());
    const failed = { id: job.id, object: 'video', status: 'failed', quality: { [message]: message } };
    await stage.first.jobs.saw(job.callId, { ...failed, status: 'in_progress' });
    expect(await stage.row(job)).toMatchObject({ state: 'running' });
    await stage.first.jobs.saw(job.callId, failed);
    expect(await stage.row(job)).toMatchObject({ state: 'failed', settled: true, cost: '0' });
    expect(await stage.holds(job)).toEqual([]);
  });

  it.each(texts)('does not keep it from beginning, also if the request says it: %j', async (text) => {
    const first = await stage.begin(await stage.customer());
    const job = {
      ...first,
      callId: newId(),
      id: `${first.id}_2`,
      facts: { seconds: 4, size: text },
      sight: { state: 'queued' as const, report: null, view: { id: first.id, error: text } },
    };
    await stage.first.jobs.open(job);
    expect(await stage.holds(job)).toEqual([FILM_NANO]);
  });
});

describe('a length that no video has', () => {
  it.each([9_007_199_254_740_991, '999999999'])('is none: %s', async (seconds) => {
    const job = await stage.begin(await stage.customer());
    await stage.first.jobs.saw(job.callId, { id: job.id, object: 'video', status: 'completed', seconds });
    expect(await stage.row(job)).toMatchObject({ settled: true, cost: `${FILM_NANO}` });
    expect((await stage.row(job)).flags).toContain('usage_unreadable');
  });
});
