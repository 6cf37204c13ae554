import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pictureFile } from '#tests/gateway/images/call';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

describe('what is not told of pictures', () => {
  let stack: Stack;
  let client: OpenAI;
  beforeAll(async () => {
    stack = await joinStack();
    const { key } = await stack.key((await stack.workspace({ rpm: 10_000 })).slug);
    client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const asked = { model: 'sandbox/picture', quality: 'low', size: '1024x1024' } as const;
  const prompt = 'a fox [[fault/no-usage]]';

  async function expectEstimated(id: string, nano: bigint) {
    const call = await stack.call(id);
    expect(call).toMatchObject({ status: 200, usageSource: 'estimated', endReason: 'completed' });
    expect(costOf(call)).toBe(nano);
    expect(await linesOf(stack, id)).toEqual([-nano]);
  }

  it('is estimated by size and quality, each picture apart', async () => {
    const { data, response } = await client.images.generate({ ...asked, prompt, n: 2 }).withResponse();
    expect(data.usage).toBeUndefined();
    const bytes = JSON.stringify({ ...asked, prompt, n: 2 }).length;
    const nano = BigInt(Math.ceil(bytes / 4)) * 5_000n + 2n * 272n * 40_000n;
    await expectEstimated(response.headers.get('x-request-id') ?? '', nano);
  });

  it('is estimated of a stream, its partial pictures too', async () => {
    const body = { ...asked, prompt, partial_images: 2, stream: true } as const;
    const { data, response } = await client.images.generate(body).withResponse();
    for await (const event of data) expect('usage' in event).toBe(false);
    const input = BigInt(Math.ceil(JSON.stringify(body).length / 4)) * 5_000n;
    await expectEstimated(response.headers.get('x-request-id') ?? '', input + 472n * 40_000n);
  });

  it('is estimated of an edit: its texts, and 2,500 tokens a picture that came in', async () => {
    const image = [await pictureFile('a.png', 500_000), await pictureFile('b.png', 10)];
    const edit = client.images.edit({ ...asked, prompt, image });
    const { response } = await edit.withResponse();
    const texts = asked.model.length + asked.quality.length + asked.size.length + prompt.length;
    const input = BigInt(Math.ceil(texts / 4)) * 5_000n + 5_000n * 10_000n;
    await expectEstimated(response.headers.get('x-request-id') ?? '', input + 272n * 40_000n);
  });

  it('costs nothing when the provider refuses', async () => {
    const refused = client.images.generate({ ...asked, prompt: 'a fox [[fault/status-400]]' });
    const error = await refused.catch((failure: unknown) => failure);
    if (!(error instanceof OpenAI.BadRequestError)) throw error;
    const call = await stack.call(error.headers.get('x-request-id') ?? '');
    expect(call).toMatchObject({ status: 400, usageSource: 'none', cost: '0' });
  });
});
