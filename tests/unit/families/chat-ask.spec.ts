import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { budgetToInject } from '#lib/core/families/family';
import { askChat, makeModel, readChat } from '#tests/unit/families/make';

const messages = [{ role: 'user', content: 'hi' }];

describe('what a chat body asks for', () => {
  it('a chat body without optional fields asks for the defaults', () => {
    expect(askChat({ model: 'm', messages })).toMatchObject({
      model: 'm',
      stream: false,
      budget: null,
      choices: 1,
      serviceTier: null,
    });
  });

  it('null in a chat body means absent', () => {
    const body = {
      model: 'm',
      stream: null,
      n: null,
      max_tokens: null,
      service_tier: null,
      stream_options: null,
    };
    expect(askChat(body)).toMatchObject({ stream: false, budget: null, choices: 1, serviceTier: null });
  });

  it('reads stream, choices and tier', () => {
    expect(askChat({ model: 'm', stream: true, n: 3, service_tier: 'flex' })).toMatchObject({
      stream: true,
      choices: 3,
      serviceTier: 'flex',
    });
  });

  it.each([
    [{ max_tokens: 5 }, 5],
    [{ max_completion_tokens: 7 }, 7],
    [{ max_tokens: 5, max_completion_tokens: 7 }, 7],
    [{ max_tokens: 9, max_completion_tokens: 7 }, 9],
    [{ max_tokens: null, max_completion_tokens: 7 }, 7],
    [{ max_tokens: 0 }, 0],
  ])('names its largest budget: %j', (fields, budget) => {
    expect(askChat({ model: 'm', ...fields }).budget).toBe(budget);
  });

  it('reads numbers by value', () => {
    expect(askChat('{"model":"m","max_tokens":1e3,"n":2.0}')).toMatchObject({ budget: 1000, choices: 2 });
    expect(Object.is(askChat('{"model":"m","max_tokens":-0}').budget, 0)).toBe(true);
  });

  it.each([
    ['{}', 'model'],
    ['{"model":null}', 'model'],
    ['{"model":5}', 'model'],
    ['{"model":["a"]}', 'model'],
    ['{"model":"m","stream":"true"}', 'stream'],
    ['{"model":"m","stream":1}', 'stream'],
    ['{"model":"m","max_tokens":-1}', 'max_tokens'],
    ['{"model":"m","max_tokens":1.5}', 'max_tokens'],
    ['{"model":"m","max_tokens":"5"}', 'max_tokens'],
    ['{"model":"m","max_tokens":1e400}', 'max_tokens'],
    ['{"model":"m","max_completion_tokens":{}}', 'max_completion_tokens'],
    ['{"model":"m","n":0}', 'n'],
    ['{"model":"m","n":1.2}', 'n'],
    ['{"model":"m","stream_options":true}', 'stream_options'],
    ['{"model":"m","stream_options":[]}', 'stream_options'],
    ['{"model":"m","stream_options":{"include_usage":"yes"}}', 'stream_options.include_usage'],
    ['{"model":"m","service_tier":7}', 'service_tier'],
  ])('refuses %s and names the field', (body, field) => {
    const refused = readChat(body);
    if (!isRefusal(refused)) throw new Error('it was taken');
    expect(refused.code).toBe('invalid_body');
    expect(refused.message).toContain(`"${field}"`);
  });

  it('no budget is injected if the request names one or the model cannot exceed the policy', () => {
    const model = makeModel({ maxOutputTokens: 100 });
    expect(budgetToInject(askChat({ model: 'm' }), 50, model)).toBe(50);
    expect(budgetToInject(askChat({ model: 'm' }), 100, model)).toBeNull();
    expect(budgetToInject(askChat({ model: 'm' }), null, model)).toBeNull();
    expect(budgetToInject(askChat({ model: 'm', max_tokens: 0 }), 50, model)).toBeNull();
  });

  it.each([
    [50, 4, 100, 12],
    [399, 4, 100, 99],
    [400, 4, 100, null],
    [4, 4, 100, 1],
    [50, 1, 0, 50],
    [50, 3, 0, 16],
  ])(
    'shares a maximum of %i among %i choices of a model that makes %i: %s',
    (most, n, maxOutputTokens, each) => {
      expect(budgetToInject(askChat({ model: 'm', n }), most, makeModel({ maxOutputTokens }))).toBe(each);
    },
  );
});

describe('what a chat input weighs', () => {
  const base64 = 'QUJD'.repeat(1000);
  const weightOf = (content: unknown, rest: object = {}) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...rest });
    return { bytes: Buffer.byteLength(body), ...askChat(body).weight };
  };

  it('a chat input of text weighs its bytes', () => {
    const weight = weightOf('é'.repeat(2000));
    expect(weight).toEqual({
      ...weight,
      textBytes: weight.bytes,
      images: 0,
      audioVideoBytes: 0,
      fileBytes: 0,
    });
  });

  it('inline images, sound and files of a chat are weighed separately from text', () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } };
    const sound = { type: 'input_audio', input_audio: { data: base64, format: 'wav' } };
    const video = { type: 'video_url', video_url: { url: `data:video/mp4;base64,${base64}` } };
    const file = {
      type: 'file',
      file: { file_data: `data:application/pdf;base64,${base64}`, filename: 'a.pdf' },
    };
    const weight = weightOf([image, image, sound, video, file]);
    expect(weight.images).toBe(2);
    expect(weight.audioVideoBytes).toBe(4000 + 4022);
    expect(weight.fileBytes).toBe(4028);
    expect(weight.textBytes).toBe(weight.bytes - 2 * 4022 - 4000 - 4022 - 4028);
  });

  it('text of a chat weighs as text, whatever surrounds it', () => {
    const pretended = { type: 'text', text: `data:image/png;base64,${base64}`, format: 'image/png' };
    const weight = weightOf([pretended]);
    expect(weight.textBytes).toBe(weight.bytes);
    expect(weightOf(base64, { format: 'image/png' }).images).toBe(0);
  });

  it('counts the tools that search or fetch at the provider', () => {
    const tools = [
      { type: 'function', function: { name: 'search', parameters: { type: 'search' } } },
      { type: 'web_search_preview' },
      { type: 'web_fetch' },
      { type: 7 },
    ];
    expect(weightOf('hi', { tools }).searchTools).toBe(2);
    expect(weightOf('hi', { web_search_options: {} }).searchTools).toBe(1);
    expect(weightOf('hi', { web_search_options: null }).searchTools).toBe(0);
  });
});
