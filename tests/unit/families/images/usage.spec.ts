import { describe, expect, it } from 'vitest';
import { images } from '#lib/core/families/images';
import { totalUsage, usageOf } from '#lib/core/metering/usage';
import { askImages } from '#tests/unit/families/images/make';
import { createMeter } from '#tests/unit/metering/make';
import { recordings } from '#tests/unit/relay/streams';

const read = (answer: unknown, asked: object = {}) =>
  images.readUsage(askImages({ model: 'm', ...asked }), answer);
const data = [{ b64_json: 'AAAA' }, { b64_json: 'BBBB' }];
const usage = {
  input_tokens: 50,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
  output_tokens: 100,
  total_tokens: 150,
};

describe('the usage of images', () => {
  it('splits text and image on both sides', () => {
    const output_tokens_details = { image_tokens: 70, text_tokens: 30 };
    expect(read({ data, usage: { ...usage, output_tokens_details } })).toMatchObject({
      usage: usageOf({ input: 50, imageInput: 40, output: 100, imageOutput: 70, images: 2 }),
      nested: [],
      flags: [],
    });
  });

  it('all output of images counts as image if there are no details', () => {
    expect(read({ data, usage })?.usage).toMatchObject({ output: 100, imageOutput: 100 });
  });

  it('without tokens the usage is the number of images', () => {
    for (const none of [undefined, null, {}, { cost_in_usd_ticks: 200_000_000 }]) {
      expect(read({ data, usage: none })?.usage).toEqual(usageOf({ images: 2 }));
    }
    expect(read({ data: [] })).toBeNull();
    expect(read({ error: { message: 'x' } })).toBeNull();
    expect(read(null)).toBeNull();
  });

  it('images are charged by the size and quality of the answer, else of the request', () => {
    expect(read({ data, size: '1024x1536', quality: 'low' })?.units).toEqual([
      '1024x1536/low',
      '1024x1536',
      'low',
    ]);
    const asked = { size: '512x512', quality: 'auto' };
    expect(read({ data, quality: 'high' }, asked)?.units).toEqual(['512x512/high', '512x512', 'high']);
    expect(read({ data }, asked)?.units).toEqual(['512x512']);
    expect(read({ data })?.units).toEqual([]);
  });

  it('what the writer of a vector graphic used is counted separately', () => {
    const svg_usage = { model: 'writer', input_tokens: 9, output_tokens: 40, reasoning_tokens: 30 };
    expect(read({ data, usage, svg_usage })?.nested).toEqual([
      { upstreamModel: 'writer', usage: usageOf({ input: 9, output: 40, reasoning: 30 }) },
    ]);
  });

  it('invalid figures, and parts that exceed the whole, are flagged', () => {
    const odd = {
      ...usage,
      output_tokens: -4,
      input_tokens_details: { image_tokens: 999, cached_tokens: 60 },
    };
    expect(read({ data, usage: odd })).toMatchObject({
      usage: { input: 0, imageInput: 0, cachedInput: 60, output: 0 },
      flags: expect.arrayContaining(['usage_negative', 'usage_inconsistent']),
    });
  });
});

describe.skipIf(recordings(['images']).length === 0)('recorded images', () => {
  it.each(recordings(['images']).map((one) => [one.file, one] as const))(
    '%s has the usage recorded with it',
    (_file, one) => {
      const contentType = one.stream ? 'text/event-stream' : 'application/json';
      const meter = createMeter(images, askImages({ model: 'm', stream: one.stream }), { contentType });
      meter.push(one.body);
      meter.end();
      const report = meter.report();
      const got = report && totalUsage(report);
      if (one.norm === null) {
        expect([got?.input ?? 0, got?.output ?? 0]).toEqual([0, 0]);
        return;
      }
      expect({
        text_in: (got?.input ?? 0) - (got?.imageInput ?? 0),
        image_in: got?.imageInput,
        output: got?.output,
      }).toEqual({ text_in: one.norm.text_in, image_in: one.norm.image_in, output: one.norm.output });
      if (one.norm.image_out != null) expect(got?.imageOutput).toBe(one.norm.image_out);
      expect(report?.flags).toEqual([]);
    },
  );
});
