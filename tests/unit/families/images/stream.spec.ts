import { describe, expect, it } from 'vitest';
import { images } from '#lib/core/families/images';
import { usageOf } from '#lib/core/metering/usage';
import { askImages } from '#tests/unit/families/images/make';

const usage = {
  input_tokens: 50,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
  output_tokens: 100,
  total_tokens: 150,
};

function readerOf(asked: object, ...events: readonly (readonly [name: string | null, data: unknown])[]) {
  const reader = images.streamReader(askImages({ model: 'm', stream: true, ...asked }));
  for (const [name, data] of events)
    reader.event(name, typeof data === 'string' ? data : JSON.stringify(data));
  return reader;
}
const partial = ['x', { type: 'image_generation.partial_image', b64_json: 'AA' }] as const;
const completed = (extra: object = { usage }) =>
  [
    'x',
    { type: 'image_generation.completed', b64_json: 'AA', size: '1024x1024', quality: 'low', ...extra },
  ] as const;

describe('a stream of images', () => {
  it('a stream of images adds up the images that it completes, each once', () => {
    const reader = readerOf({ n: 2 }, partial, completed(), partial, partial, completed());
    expect(reader.report()).toEqual({
      usage: usageOf({ input: 100, imageInput: 80, output: 200, imageOutput: 200, images: 2 }),
      serviceTier: null,
      nested: [],
      units: ['1024x1024/low', '1024x1024', 'low'],
      flags: [],
    });
  });

  it('a stream of images is over when it has completed as many as were requested, or says so', () => {
    expect(readerOf({ n: 2 }, partial, completed()).finished).toBe(false);
    expect(readerOf({ n: 2 }, completed(), completed()).finished).toBe(true);
    expect(readerOf({}, completed()).finished).toBe(true);
    expect(readerOf({ n: 2 }, [null, '[DONE]']).finished).toBe(true);
  });

  it('events of edits are recognized by their own names, and events without a type by their event name', () => {
    expect(readerOf({}, ['image_edit.completed', { b64_json: 'A', usage }]).report()?.usage.images).toBe(1);
    expect(readerOf({}, [null, { type: 'image_edit.completed', usage }]).report()?.usage.input).toBe(50);
  });

  it('a stream of images reports nothing before its first image, but counts what partial images cost', () => {
    const reader = readerOf({}, partial, partial);
    expect([reader.report(), reader.finished, reader.outputBytes]).toEqual([null, false, 800]);
  });

  it('images that report no tokens are counted by their size and quality', () => {
    const reader = readerOf({ size: '1024x1024', quality: 'high' }, completed({}), completed({}));
    expect(reader.report()?.usage).toEqual(usageOf({ images: 2 }));
    expect(reader.outputBytes).toBe(2 * 4 * 272);
  });

  it.each([
    ['by name', ['error', '{"message":"x"}']],
    ['by name alone', ['error', 'no json']],
    ['by type', [null, { type: 'error', code: 'x' }]],
    ['by an error in it', ['x', { error: { message: 'x' } }]],
  ] as const)('has failed when an error came: %s', (_how, event) => {
    expect(readerOf({}, partial, event).failed).toBe(true);
    expect(readerOf({}, partial, ['x', { error: null }]).failed).toBe(false);
  });

  it('a report contains what has arrived so far and nothing later', () => {
    const reader = readerOf({ n: 2 }, completed());
    const first = reader.report();
    reader.event('x', JSON.stringify(completed()[1]));
    expect([first?.usage.images, reader.report()?.usage.images]).toEqual([1, 2]);
  });
});
