import OpenAI, { BadRequestError, InternalServerError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isPng } from '#tests/gateway/images/call';
import { textTokens } from '#tools/sandbox/content/tokens';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

let sandbox: Sandbox;
let images: OpenAI['images'];
beforeAll(async () => {
  sandbox = await startSandbox({ key: 'sk-sandbox' });
  images = new OpenAI({ baseURL: sandbox.url, apiKey: 'sk-sandbox', maxRetries: 0 }).images;
});
afterAll(() => sandbox.close());

const prompt = 'a fox';
const model = 'picture';
const file = (bytes: number) => toFile(Buffer.alloc(bytes, 7), 'a.png', { type: 'image/png' });

type Asked = Readonly<Record<string, string | number>> & { readonly image?: number };

describe('pictures', () => {
  test('are valid, the same for the same prompt, and of the requested size', async () => {
    const [one, again, other] = await Promise.all([
      images.generate({ model, prompt, n: 2 }),
      images.generate({ model, prompt, n: 2 }),
      images.generate({ model, prompt: 'another', n: 2 }),
    ]);
    const shown = (answer: OpenAI.ImagesResponse) => (answer.data ?? []).map(({ b64_json }) => b64_json);
    expect(shown(one)).toEqual(shown(again));
    expect(new Set([...shown(one), ...shown(other)]).size).toBe(4);
    expect([...shown(one), ...shown(other)].every(isPng)).toBe(true);
    const heavy = await images.generate({ model: 'picture?bytes=5000', prompt });
    const [picture] = shown(heavy);
    expect([Buffer.from(picture ?? '', 'base64').length, isPng(picture)]).toEqual([5_000, true]);
  });

  test('cost tokens by size and quality, plus text if the name says so', async () => {
    const asked = { prompt, quality: 'low', size: '1536x1024', n: 2 } as const;
    const { usage } = await images.generate({ ...asked, model: 'picture?text=9' });
    const input = textTokens(prompt);
    expect(usage).toEqual({
      input_tokens: 2 * input,
      input_tokens_details: { text_tokens: 2 * input, image_tokens: 0 },
      output_tokens: 2 * (408 + 9),
      output_tokens_details: { text_tokens: 18, image_tokens: 816 },
      total_tokens: 2 * (input + 417),
    });
  });

  test('have no usage if they are priced by the image', async () => {
    const answer = await images.generate({ model: 'print', prompt, n: 3 });
    expect([answer.usage, answer.data?.length]).toEqual([undefined, 3]);
    const end = (await sandbox.truth.read(0, ({ event }) => event === 'end', 0)).at(-1);
    expect(end).toMatchObject({ model: 'print', images: 3, outputTokens: 0, usageReported: null });
  });
});

describe('edits', () => {
  test('read the parts of a form in any order', async () => {
    const image = [await file(10), await file(100_000)];
    const { usage } = await images.edit({ image, mask: await file(3), model, prompt, n: 2, quality: 'low' });
    expect(usage?.input_tokens_details).toEqual({
      text_tokens: 2 * textTokens(prompt),
      image_tokens: 6 * 194,
    });
    expect(usage?.output_tokens_details?.image_tokens).toBe(544);
  });

  test('stream partial pictures, and each finished one with its usage', async () => {
    const stream = await images.edit({
      image: await file(5),
      model,
      prompt,
      n: 2,
      partial_images: 2,
      stream: true as const,
    });
    const seen: unknown[] = [];
    for await (const event of stream) seen.push('usage' in event ? event.usage.total_tokens : event.type);
    const each = textTokens(prompt) + 194 + 1_056 + 200;
    const partial = 'image_edit.partial_image';
    expect(seen).toEqual([partial, partial, each, partial, partial, each]);
  });

  test.each([
    ['without a picture', { prompt, model }, 'missing_required_parameter', 'image'],
    ['without a prompt', { model, image: 5 }, 'missing_required_parameter', 'prompt'],
    ['with an empty picture', { prompt, model, image: 0 }, 'invalid_image_file', 'image[0]'],
    ['of too many', { prompt, model, image: 5, n: 11 }, 'invalid_value', 'n'],
    ['of no size', { prompt, model, image: 5, size: 'large' }, 'invalid_value', 'size'],
    ['with what nobody knows', { prompt, model, image: 5, budget: '1' }, 'unknown_parameter', 'budget'],
  ])('%s are refused with the vendor’s error', async (_name, asked: Asked, code, param) => {
    const { image, ...fields } = asked;
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
    if (image !== undefined) form.set('image', await file(image));
    const headers = { authorization: 'Bearer sk-sandbox' };
    const answer = await fetch(`${sandbox.url}/images/edits`, { method: 'POST', headers, body: form });
    expect([answer.status, (await answer.json()).error]).toMatchObject([400, { code, param }]);
  });
});

describe('faults by name', () => {
  test('work as in every family', async () => {
    await expect(images.generate({ model: 'fault/status-500', prompt })).rejects.toThrow(InternalServerError);
    await expect(images.generate({ model: 'fault/status-400', prompt })).rejects.toThrow(BadRequestError);
    expect((await images.generate({ model: 'fault/no-usage', prompt })).usage).toBeUndefined();
    const stream = await images.generate({ model: 'fault/error-event@1', prompt, stream: true, n: 2 });
    const read = async () => {
      for await (const event of stream) expect(event.type).toBe('image_generation.completed');
    };
    await expect(read()).rejects.toThrow();
  });
});
