import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { budgetToInject } from '#lib/core/families/family';
import { generateContent } from '#lib/core/families/generate-content';
import { askContent, readContent } from '#tests/unit/families/content/make';
import { makeModel, makeOffer } from '#tests/unit/families/make';

const predict = (parameters: object = {}, instance: object = {}) =>
  askContent({ instances: [{ prompt: 'A calm sea', ...instance }], parameters }, 'predictLongRunning');

describe('a long-running prediction', () => {
  it('is a job by length, samples and resolution, and generates no text', () => {
    expect(
      predict({ durationSeconds: 4, sampleCount: 2, resolution: '4K', aspectRatio: '9:16' }),
    ).toMatchObject({
      model: 'vendor/name',
      stream: false,
      budget: null,
      choices: 2,
      job: { seconds: 4, samples: 2, size: '4k' },
    });
    expect(predict()).toMatchObject({ choices: 1, job: {} });
    expect(predict({ generateAudio: false, resolution: '720p' }).job).toEqual({ size: '720p', sound: 'off' });
    expect(predict({ generateAudio: true }).job).toEqual({});
  });

  it('reads both spellings, and numbers as strings', () => {
    expect(predict({ duration_seconds: '8', sample_count: '3', generate_audio: false })).toMatchObject({
      choices: 3,
      job: { seconds: 8, samples: 3, sound: 'off' },
    });
  });

  it('counts the videos of every instance', () => {
    const body = { instances: [{ prompt: 'a' }, { prompt: 'b' }], parameters: { sampleCount: 2 } };
    expect(askContent(body, 'predictLongRunning').choices).toBe(4);
  });

  it.each([
    ['{"parameters":3}', '"parameters" (byte 14) must be an object'],
    ['{"parameters":{"durationSeconds":"long"}}', 'number of seconds'],
    ['{"parameters":{"durationSeconds":0}}', 'above 0'],
    ['{"parameters":{"sampleCount":1.5}}', 'a whole number, 1 or more'],
    ['{"parameters":{"sampleCount":"0"}}', 'above 0'],
    ['{"parameters":{"resolution":720}}', 'must be a string'],
    ['{"parameters":{"generateAudio":"no"}}', 'true or false'],
    ['{"parameters":{"durationSeconds":4,"duration_seconds":8}}', 'occurs twice'],
    ['{"parameters":{},"Parameters":{}}', 'only in case'],
  ])('refuses %s', (body, message) => {
    const refused = readContent(body, 'predictLongRunning');
    expect(isRefusal(refused) && refused.code).toBe('invalid_body');
    expect(isRefusal(refused) && refused.message).toContain(message);
  });

  it('weighs pictures and videos by kind', () => {
    const data = 'A'.repeat(8_000);
    const { weight } = predict(
      {},
      {
        image: { bytesBase64Encoded: data, mimeType: 'image/png' },
        video: { encodedVideo: data, mimeType: 'video/mp4' },
      },
    );
    expect(weight).toMatchObject({ images: 1, audioVideoBytes: 8_000 });
  });

  it('is sent to its model under the verb, and takes no budget', () => {
    const offer = makeOffer({ upstreamModel: 'veo-x' });
    expect(generateContent.upstreamPath(predict(), offer)).toBe('/models/veo-x:predictLongRunning');
    expect(budgetToInject(predict(), 100, makeModel())).toBeNull();
  });
});
