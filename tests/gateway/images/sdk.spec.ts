import { createHash, randomUUID } from 'node:crypto';
import OpenAI, { type APIError, BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fairPictureNano, isPng, pictureFile, type Usage } from '#tests/gateway/images/call';
import { spooledUploads } from '#tests/gateway/images/spooled';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

describe('pictures with the official openai SDK', () => {
  let stack: Stack;
  let client: OpenAI;
  beforeAll(async () => {
    stack = await joinStack();
    const { key } = await stack.key((await stack.workspace({ rpm: 10_000 })).slug);
    client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });
  });
  afterAll(async () => {
    // Others upload to this gateway too: what lies there at this moment has to go.
    const lying = new Set(spooledUploads(stack.dataDir));
    await eventually(() => spooledUploads(stack.dataDir).filter((path) => lying.has(path)), []);
    await closeBalanced(stack);
  });

  const model = 'sandbox/picture';
  const id = (answer: object) => ('_request_id' in answer ? String(answer._request_id) : '');

  async function expectCharged(callId: string, nano: bigint) {
    const call = await stack.call(callId);
    expect(call).toMatchObject({ status: 200, usageSource: 'reported', flags: [], endReason: 'completed' });
    expect(costOf(call)).toBe(nano);
    expect(await linesOf(stack, callId)).toEqual([-nano]);
    return call;
  }

  describe.concurrent('generated', () => {
    it('arrive whole, and cost what their tokens cost, text and image priced separately', async () => {
      const answer = await client.images.generate({
        model,
        prompt: 'a fox [[picture?text=31]]',
        n: 2,
        quality: 'low',
        size: '1024x1536',
      });
      expect(answer.data?.map(({ b64_json }) => isPng(b64_json))).toEqual([true, true]);
      expect(answer.usage?.output_tokens_details).toEqual({ text_tokens: 62, image_tokens: 816 });
      const call = await expectCharged(id(answer), fairPictureNano([answer.usage]));
      expect(call).toMatchObject({ family: 'images', operation: 'images.generate', requestedModel: model });
      expect(call.usage).toMatchObject({ output: 878, imageOutput: 816, images: 2 });
    });

    it('stream with partial images, each image charged once', async () => {
      const { data: stream, response } = await client.images
        .generate({ model, prompt: 'a fox', n: 2, stream: true, partial_images: 2 })
        .withResponse();
      const types: string[] = [];
      const usages: (Usage | undefined)[] = [];
      for await (const event of stream) {
        types.push(event.type.replace('image_generation.', ''));
        expect(isPng(event.b64_json)).toBe(true);
        if (event.type === 'image_generation.completed') usages.push(event.usage);
      }
      const one = ['partial_image', 'partial_image', 'completed'];
      expect(types).toEqual([...one, ...one]);
      await expectCharged(response.headers.get('x-request-id') ?? '', fairPictureNano(usages));
    });

    it.each([
      [{ size: '1024x1024', quality: 'high' }, 160_000_000n],
      [{ size: '1024x1024', quality: 'low' }, 10_000_000n],
      [{ size: '1024x1536', quality: 'low' }, 60_000_000n],
      [{ size: '512x512', quality: 'high' }, 200_000_000n],
      [{ size: '512x512', quality: 'low' }, 40_000_000n],
      [{}, 40_000_000n],
    ] as const)('of a model without usage cost their number: %j', async (asked, eachNano) => {
      const answer = await client.images.generate({
        model: 'sandbox/print',
        prompt: 'a fox',
        n: 3,
        ...asked,
      });
      expect(answer.usage).toBeUndefined();
      await expectCharged(id(answer), 3n * eachNano);
    });

    it('as vector graphics charge the model that wrote them at its own price', async () => {
      const answer = await client.images.generate({
        model,
        prompt: 'a fox',
        output_format: 'svg',
        svg: { model: 'sandbox/echo' },
      });
      expect(answer.svg_usage?.model).toBe('echo');
      const svg = BigInt(answer.svg_usage?.input_tokens ?? 0) * 1_000n + 40n * 4_000n;
      await expectCharged(id(answer), fairPictureNano([answer.usage]) + svg);
    });
  });

  describe.concurrent('edited', () => {
    const sizes: readonly (readonly [string, number])[] = [
      ['one small file', 100],
      ['one file of 3 MB', 3_000_000],
    ];

    it.each(sizes)('from %s', async (_name, bytes) => {
      const image = await pictureFile('a.png', bytes);
      const answer = await client.images.edit({ model, image, prompt: 'make it green', n: 2 });
      expect(answer.data).toHaveLength(2);
      expect(answer.usage?.input_tokens_details.image_tokens).toBe(2 * 194);
      const call = await expectCharged(id(answer), fairPictureNano([answer.usage]));
      expect(call).toMatchObject({ operation: 'images.edit', streamed: false });
    });

    it('from several files and a mask, which are forwarded byte for byte with only the model renamed', async () => {
      const files = [await pictureFile('a.png', 70_001), await pictureFile('b.png', 65_536)];
      const mask = await pictureFile('mask.png', 5);
      const mark = randomUUID();
      let sent = Buffer.alloc(0);
      let boundary = '';
      const watching = client.withOptions({
        fetch: async (url, init) => {
          const request = new Request(url, init);
          boundary = request.headers.get('content-type') ?? '';
          sent = Buffer.from(await request.arrayBuffer());
          return fetch(url, { ...init, body: sent, headers: request.headers });
        },
      });
      const answer = await watching.images.edit({ model, image: files, mask, prompt: mark, quality: 'low' });
      await expectCharged(id(answer), fairPictureNano([answer.usage]));
      const expected = Buffer.from(
        sent.toString('latin1').replace('\r\n\r\nsandbox/picture\r\n', '\r\n\r\npicture\r\n'),
        'latin1',
      );
      const [attempt] = (await stack.call(id(answer))).attempts;
      const [seen] = await stack.sandbox.lines({ event: 'begin', id: attempt?.upstreamRequestId ?? '' });
      expect(seen).toMatchObject({
        bodyBytes: expected.length,
        bodySha256: createHash('sha256').update(expected).digest('hex'),
        headers: { 'content-type': boundary, 'content-length': String(expected.length) },
      });
    });

    it('as a stream', async () => {
      const image = await pictureFile('a.png', 1_000);
      const stream = await client.images.edit({
        model,
        image,
        prompt: 'green',
        stream: true,
        partial_images: 1,
      });
      const types: string[] = [];
      for await (const event of stream) types.push(event.type);
      expect(types).toEqual(['image_edit.partial_image', 'image_edit.completed']);
    });

    it('from a JSON body', async () => {
      const image_url = `data:image/png;base64,${Buffer.alloc(3_000, 7).toString('base64')}`;
      const stored = await client.files.create({
        purpose: 'vision',
        file: await pictureFile('b.png', 3_000),
      });
      const answer = await client.post<OpenAI.ImagesResponse>('/images/edits', {
        body: { model, prompt: 'green', images: [{ image_url }, { file_id: stored.id }] },
      });
      expect(answer.usage?.input_tokens_details.image_tokens).toBe(2 * 194);
      await expectCharged(id(answer), fairPictureNano([answer.usage]));
    });

    it('are sent again, whole, to the next provider when one fails', async () => {
      const image = await pictureFile('a.png', 300_000);
      const mark = randomUUID();
      const answer = await client.images.edit({ model: 'test/picture-falls-back', image, prompt: mark });
      const call = await stack.call(id(answer));
      expect(call.attempts.map(({ provider, status }) => [provider, status])).toEqual([
        ['closed', null],
        ['drained', 500],
        ['second', 200],
      ]);
      expect(answer.usage?.input_tokens_details.image_tokens).toBe(194);
      const usage = answer.usage;
      expect(costOf(call)).toBe(
        BigInt(usage?.input_tokens ?? 0) * 5_000n + BigInt(usage?.output_tokens ?? 0) * 40_000n,
      );
    });
  });

  describe.concurrent('refused', () => {
    it('by the gateway: an unknown model, a repeated field, an invalid field', async () => {
      const image = await pictureFile('a.png', 10);
      const failures = await Promise.all(
        [
          { model: 'nobody/has-it', image, prompt: 'x' },
          { model, image, prompt: 'x', n: 0 },
          { model, image, prompt: 'x', n: 1.5 },
          { model, image, prompt: 'x', Model: 'sandbox/print' },
        ].map((asked) => client.images.edit(asked).catch((error: unknown) => error)),
      );
      for (const failure of failures) expect(failure).toBeInstanceOf(BadRequestError);
      expect(failures.map((failure) => (failure as APIError).code)).toEqual([
        'model_not_allowed',
        'invalid_body',
        'invalid_body',
        'invalid_body',
      ]);
    });

    it('by the provider, whose error passes', async () => {
      const image = await pictureFile('a.png', 0);
      const failure = await client.images
        .edit({ model, image, prompt: 'x' })
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ status: 400, code: 'invalid_image_file', param: 'image[0]' });
    });

    it('when a multipart body comes where none is read', async () => {
      const form = new FormData();
      form.set('model', model);
      const answer = await fetch(`${stack.url}/v1/images/generations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.apiKey}` },
        body: form,
      });
      expect([answer.status, (await answer.json()).error.code]).toEqual([400, 'invalid_body']);
    });
  });
});
