import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JobFacts } from '#lib/core/facts/job';
import { videos } from '#lib/core/families/videos';
import { price } from '#lib/core/metering/price';
import { usageOf } from '#lib/core/metering/usage';
import { videoOperation } from '#tests/unit/families/videos/make';

const video = {
  id: 'video_1',
  object: 'video',
  model: 'film-2',
  status: 'completed',
  progress: 100,
  created_at: 1_712_697_600,
  completed_at: 1_712_697_700,
  expires_at: null,
  prompt: 'A secret',
  size: '1280x720',
  seconds: '8',
  remixed_from_video_id: null,
  error: null,
};
const read = (answer: unknown, facts: JobFacts = {}) => videos.jobs?.read(facts, answer) ?? null;
const seconds = (answer: unknown, facts: JobFacts = {}) => read(answer, facts)?.report?.usage.videoSeconds;

describe('a video job (contract: families/video-lengths)', () => {
  it.each([
    ['queued', 'queued'],
    ['in_progress', 'running'],
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['cancelled', 'cancelled'],
    ['something_new', 'running'],
    [undefined, 'running'],
  ])('that is %s is %s', (status, state) => {
    const sight = read({ ...video, status });
    expect(sight?.state).toBe(state);
    expect(sight?.report === null).toBe(state !== 'completed');
  });

  it('that failed keeps its error’s code, and nothing that may quote the prompt', () => {
    const error = { code: 'moderation', message: 'Blocked: "a secret"', param: 'a secret' };
    const view = read({ ...video, status: 'failed', error, prompt: 'a secret' })?.view;
    expect(view).toMatchObject({ prompt: null, error: { code: 'moderation' } });
    expect(JSON.stringify(view)).not.toContain('secret');
    for (const none of [null, 'a secret', { message: 'a secret' }]) {
      const kept = JSON.stringify(read({ ...video, status: 'failed', error: none })?.view);
      expect(kept).not.toContain('secret');
    }
  });

  it('that is completed is charged by the seconds that it says it has, as a string or a number', () => {
    expect(read(video, { seconds: 4, size: '720x1280' })?.report).toEqual({
      usage: usageOf({ videoSeconds: 8 }),
      serviceTier: null,
      nested: [],
      units: ['1280x720'],
      flags: [],
    });
    expect(seconds({ ...video, seconds: 12 })).toBe(12);
    expect(seconds({ ...video, seconds: '8.2' })).toBe(9);
  });

  it('that does not give its length is charged by the requested one, else by the default', () => {
    const { seconds: _, size: __, ...silent } = video;
    expect(read(silent, { seconds: 12, size: '1024x1792' })?.report).toMatchObject({
      usage: { videoSeconds: 12 },
      units: ['1024x1792'],
      flags: [],
    });
    expect(read(silent)?.report).toMatchObject({
      usage: { videoSeconds: 4 },
      units: [],
      flags: ['video_length_assumed'],
    });
    expect(read({ ...video, seconds: 'long' }, { seconds: 8 })?.report).toMatchObject({
      usage: { videoSeconds: 8 },
      flags: ['usage_unreadable'],
    });
    expect(seconds({ ...video, seconds: -8 }, { seconds: 4 })).toBe(4);
  });

  it('gives a remix its length and size: those of the video, else those requested', () => {
    const made = (facts: JobFacts, view: object) => videos.jobs?.made?.(facts, { ...view });
    expect(made({ seconds: 4, size: '720x1280' }, video)).toEqual({ seconds: 8, size: '1280x720' });
    expect(made({ seconds: 4 }, { id: 'video_1' })).toEqual({ seconds: 4 });
    expect(made({}, { id: 'video_1' })).toEqual({});
  });

  it('is priced by its size', () => {
    const videoSecond = { default: 100_000_000n, '1024x1792': 500_000_000n };
    const list = { base: { videoSecond }, tiers: [], serviceTiers: {} };
    const cost = (answer: object) => {
      const report = read(answer)?.report;
      if (!report) throw new Error('it has no report');
      return price(report, list, new Map());
    };
    expect(cost(video).costNano).toBe(800n);
    expect(cost({ ...video, size: '1024x1792' }).costNano).toBe(4_000n);
  });

  it('is shown in lists without its prompt and without anything that is not known', () => {
    const view = read({ ...video, input: 'A secret', metadata: { a: 'A secret' } })?.view;
    expect(view).toEqual({ ...video, prompt: null });
  });

  it.each([
    ['an error', { error: { message: 'not found', code: null } }],
    ['a deletion', { id: 'video_1', object: 'video.deleted', deleted: true }],
    ['a list', { object: 'list', data: [video] }],
    ['text', 'queued'],
    ['nothing', null],
  ])('is not seen in %s', (_name, answer) => {
    expect(read(answer)).toBeNull();
    expect(videos.shown?.(videoOperation('create'), answer)).toEqual([]);
  });

  it('is shown by its create answer and its remix, and asked for by its id', () => {
    const shown = [{ kind: 'video', id: 'video_1' }];
    expect(videos.shown?.(videoOperation('create'), video)).toEqual(shown);
    expect(videos.shown?.(videoOperation('remix'), video)).toEqual(shown);
    expect(videos.shown?.(videoOperation('retrieve'), video)).toEqual([]);
    expect(videos.jobs?.pollPath({ id: 'video_1', upstreamModel: 'x' })).toBe('/videos/video_1');
  });
});

const recorded = new URL(
  '../../../../../shared/fixtures/openai-openapi-examples/videos/videos_create.json',
  import.meta.url,
);
describe.skipIf(!existsSync(recorded))('the published example of a create answer', () => {
  it('is a job that waits', () => {
    const answer: unknown = JSON.parse(readFileSync(recorded, 'utf8'));
    expect(read(answer)).toEqual({
      state: 'queued',
      report: null,
      view: expect.objectContaining({ id: 'video_123', seconds: '8', quality: 'standard', prompt: null }),
    });
    expect(videos.shown?.(videoOperation('create'), answer)).toEqual([{ kind: 'video', id: 'video_123' }]);
  });
});
