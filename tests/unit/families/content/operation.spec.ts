import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JobFacts } from '#lib/core/facts/job';
import { generateContent } from '#lib/core/families/generate-content';
import { price } from '#lib/core/metering/price';
import { askContent } from '#tests/unit/families/content/make';
import { makeOffer } from '#tests/unit/families/make';

const name = 'models/veo-x/operations/op1';
const uriOf = (id: string) =>
  `https://generativelanguage.googleapis.com/v1beta/files/${id}:download?alt=media`;
const sample = (id: string) => ({ video: { uri: uriOf(id) } });
const doneWith = (response: object) => ({ name, done: true, response });
const made = (...ids: string[]) => doneWith({ generateVideoResponse: { generatedSamples: ids.map(sample) } });
const read = (answer: unknown, facts: JobFacts = {}) => generateContent.jobs?.read(facts, answer) ?? null;
const operation = (last: string) => {
  const found = generateContent.operations.find((one) => one.name === `content.${last}`);
  if (!found) throw new Error(`there is no content.${last}`);
  return found;
};
const shown = (last: string, answer: unknown) => generateContent.shown?.(operation(last), answer);

describe('a long-running operation', () => {
  it('runs until it is done, and then has failed or completed', () => {
    expect(read({ name })).toEqual({ state: 'running', report: null, view: null });
    expect(read({ name, done: false, metadata: {} })?.state).toBe('running');
    expect(read({ name, done: true, error: { code: 13, message: 'x' } })).toEqual({
      state: 'failed',
      report: null,
      view: null,
    });
    expect(read(made('a'))?.state).toBe('completed');
  });

  it('is charged by its length for every video that it shows', () => {
    const facts = { seconds: 4, samples: 3, size: '1080p' };
    expect(read(made('a', 'b'), facts)?.report).toMatchObject({
      usage: { videoSeconds: 8, output: 0 },
      units: ['1080p'],
      flags: [],
    });
    expect(read(doneWith({ generatedVideos: [sample('a')] }), facts)?.report?.usage.videoSeconds).toBe(4);
    expect(read(doneWith({ videos: [{ bytesBase64Encoded: 'AA==' }] }), facts)?.report?.usage).toMatchObject({
      videoSeconds: 4,
    });
  });

  it('takes 8 seconds, the length of every Veo video by default, where the request named none', () => {
    expect(read(made('a', 'b'))?.report).toMatchObject({
      usage: { videoSeconds: 16 },
      units: [],
      flags: ['video_length_assumed'],
    });
  });

  it('costs nothing when everything was filtered', () => {
    const filtered = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['unsafe'] };
    for (const response of [{ generateVideoResponse: filtered }, {}]) {
      const sight = read(doneWith(response));
      expect(sight).toMatchObject({ state: 'completed', report: { usage: { videoSeconds: 0 }, flags: [] } });
    }
  });

  it('is priced by resolution, and silent films apart where they have a price', () => {
    const videoSecond = { default: 1n, '4k': 600_000_000n, '4k/silent': 400_000_000n, '720p': 100_000_000n };
    const cost = (facts: JobFacts) => {
      const report = read(made('a'), { seconds: 1, ...facts })?.report;
      if (!report) throw new Error('it has no report');
      return price(report, { base: { videoSecond }, tiers: [], serviceTiers: {} }, new Map()).costNano;
    };
    expect(cost({ size: '4k' })).toBe(600n);
    expect(cost({ size: '4k', sound: 'off' })).toBe(400n);
    expect(cost({ size: '720p', sound: 'off' })).toBe(100n);
  });

  it.each([
    ['an error page', { error: { code: 404, message: 'x', status: 'NOT_FOUND' } }],
    ['an answer of text', { candidates: [], usageMetadata: { promptTokenCount: 1 } }],
    ['a model', { name: 'models/veo-x' }],
    ['nothing', null],
  ])('is not seen in %s', (_name, answer) => {
    expect(read(answer)).toBeNull();
    expect(shown('predictLongRunning', answer)).toEqual([]);
    expect(shown('operation', answer)).toEqual([]);
  });

  it('is shown by its create answer; its files when it is done', () => {
    expect(shown('predictLongRunning', { name })).toEqual([{ kind: 'operation', id: 'op1' }]);
    const files = [
      { kind: 'file', id: 'a' },
      { kind: 'file', id: 'b' },
    ];
    expect(shown('model_operation', made('a', 'b'))).toEqual(files);
    expect(shown('operation', made('a', 'b'))).toEqual(files);
    expect(shown('operation', doneWith({ generatedVideos: [sample('c')] }))).toEqual([
      { kind: 'file', id: 'c' },
    ]);
    expect(shown('operation', doneWith({ videos: [{ gcsUri: 'gs://a/b' }] }))).toEqual([]);
    expect(shown('generate', made('a'))).toEqual([]);
  });
});

describe('where what is kept is read', () => {
  const offer = makeOffer({ upstreamModel: 'veo-x' });
  const pathOf = (last: string, params: Record<string, string>) =>
    generateContent.upstreamPath({ ...askContent(), operation: operation(last), params }, offer);

  it('an operation by its real name, however the client spelled its model', () => {
    const path = '/models/veo-x/operations/op1';
    expect(pathOf('model_operation', { model: 'vendor/veo', id: 'op1' })).toBe(path);
    expect(pathOf('model_operation', { model: 'veo-x', id: 'op1' })).toBe(path);
    expect(pathOf('operation', { id: 'op1' })).toBe(path);
    expect(generateContent.jobs?.pollPath({ id: 'op1', upstreamModel: 'veo-x' })).toBe(path);
    expect(generateContent.jobs?.pollPath({ id: 'op1', upstreamModel: 'tunedModels/t' })).toBe(
      '/tunedModels/t/operations/op1',
    );
  });

  it('a file by its id', () => {
    expect(pathOf('file', { id: 'abc' })).toBe('/files/abc:download');
    expect(operation('file').download).toBe('redirected');
  });
});

const folder = new URL('../../../../../shared/fixtures/ruby_llm/videos/', import.meta.url);
const stem = 'video_basic_functionality_gemini_veo-3_1-lite-generate-preview_can_animate_videos.01.gemini';
describe.skipIf(!existsSync(folder))('a recorded prediction', () => {
  const json = (end: string) => readFileSync(new URL(`${stem}.${end}.json`, folder), 'utf8');

  it('asks for four seconds and begins an operation', () => {
    expect(askContent(json('req'), 'predictLongRunning').job).toEqual({ seconds: 4 });
    const answer: unknown = JSON.parse(json('resp'));
    expect(read(answer, { seconds: 4 })?.state).toBe('running');
    expect(shown('predictLongRunning', answer)).toEqual([{ kind: 'operation', id: 'umz7sqimep69' }]);
  });
});
