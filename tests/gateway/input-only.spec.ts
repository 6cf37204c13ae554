import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { GoogleGenAI } from '@google/genai';
import { embedMany } from 'ai';
import OpenAI, { BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { ask, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { setPolicy } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const json = { 'content-type': 'application/json' };
/** Of 20 and 16 bytes: 5 and 4 tokens at the simulated provider. */
const texts = ['A calm sea at night.', 'A storm at noon.'];

describe('calls that only read their input (contract: families/input-only)', () => {
  let stack: Stack;
  let slug = '';
  let key = '';
  let openai: OpenAI;
  beforeAll(async () => {
    stack = await joinStack();
    ({ slug } = await stack.workspace({ rpm: null, tpm: null }));
    ({ key } = await stack.key(slug));
    openai = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });
  const post = (path: string, body: object, as = key) =>
    ask(stack.url, 'POST', path, { ...json, ...bearer(as) }, JSON.stringify(body));

  async function expectCharged(id: string, operation: string, input: number, nano: bigint) {
    const call = await stack.call(id);
    expect(call).toMatchObject({ operation, status: 200, flags: [], endReason: 'completed' });
    expect(call.usage).toMatchObject({ input, output: 0 });
    expect(costOf(call)).toBe(nano);
    expect(await linesOf(stack, id)).toEqual(nano === 0n ? [] : [-nano]);
    return call;
  }

  describe('embeddings', () => {
    const model = 'sandbox/vectors';

    it('reach the openai SDK, which asks for Base64, and cost their input', async () => {
      const { data: answer, response } = await openai.embeddings
        .create({ model, input: texts, dimensions: 8 })
        .withResponse();
      expect(answer.data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
      expect(answer.usage).toEqual({ prompt_tokens: 9, total_tokens: 9 });
      const id = response.headers.get('x-request-id') ?? '';
      await expectCharged(id, 'embeddings.create', 9, 900n);
    });

    it('are the same as numbers, in Base64, and through Google', async () => {
      const asNumbers = await openai.embeddings.create({ model, input: texts, encoding_format: 'float' });
      const inBase64 = await openai.embeddings.create({ model, input: texts });
      const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: stack.url } });
      const { embeddings = [] } = await google.models.embedContent({ model, contents: texts });
      for (const [index, { embedding }] of asNumbers.data.entries()) {
        for (const [place, value] of embedding.entries()) {
          expect(inBase64.data[index]?.embedding[place]).toBeCloseTo(value, 6);
          expect(embeddings[index]?.values?.[place]).toBeCloseTo(value, 6);
        }
      }
    });

    it.each([
      ['openai', () => createOpenAI({ baseURL: `${stack.url}/v1`, apiKey: key }).embedding(model), 9],
      ['google', () => createGoogle({ baseURL: `${stack.url}/v1beta`, apiKey: key }).embedding(model), null],
    ] as const)('reach the AI SDK: %s', async (_name, create, tokens) => {
      const { embeddings, usage } = await embedMany({ model: create(), values: texts, maxRetries: 0 });
      expect(embeddings.map(({ length }) => length)).toEqual([64, 64]);
      if (tokens !== null) expect(usage.tokens).toBe(tokens);
    });

    it.each([
      ['one content', 'embedContent', { content: { parts: [{ text: texts[0] }] } }, 5, 500n],
      [
        'several, each with the name that the client knows',
        'batchEmbedContents',
        { requests: texts.map((text) => ({ model: `models/${model}`, content: { parts: [{ text }] } })) },
        9,
        900n,
      ],
    ])('of Google: %s', async (_name, verb, body, input, nano) => {
      const answer = await post(`/v1beta/models/${model}:${verb}`, body);
      expect(answer.status, answer.body.toString()).toBe(200);
      const operation = verb === 'embedContent' ? 'content.embed' : 'content.embed_batch';
      await expectCharged(headerOf(answer, 'x-request-id') ?? '', operation, input, nano);
    });

    it('are estimated if the provider does not report its tokens', async () => {
      const answer = await post('/v1/embeddings', { model, input: `${texts[0]} [[fault/no-usage]]` });
      expect(answer.status, answer.body.toString()).toBe(200);
      const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
      expect(call).toMatchObject({ usageSource: 'estimated', status: 200 });
      expect(call.usage.input).toBeGreaterThan(5);
      expect(call.usage.output).toBe(0);
    });

    it('with more tokens than the context of the model, in many inputs, are charged in full', async () => {
      const input = Array.from({ length: 100 }, () => 'word '.repeat(1_000));
      const answer = await post('/v1/embeddings', { model, input });
      expect(answer.status, answer.body.toString().slice(0, 200)).toBe(200);
      const id = headerOf(answer, 'x-request-id') ?? '';
      await expectCharged(id, 'embeddings.create', 125_000, 12_500_000n);
    });

    it('count only their input against TPM', async () => {
      const own = await stack.key(slug, { tpm: 100 });
      expect((await post('/v1/embeddings', { model, input: texts }, own.key)).status).toBe(200);
    });

    it('are never made by another model (contract: families/same-model)', async () => {
      const other = await stack.workspace({ rpm: null });
      const { key: theirs } = await stack.key(other.slug);
      await setPolicy(stack.db, { workspace: other.slug, policy: { fallbackModels: ['sandbox/echo'] } });
      const failed = await post('/v1/embeddings', { model, input: '[[fault/status-500]]' }, theirs);
      expect(failed.status).toBe(500);
      const call = await stack.call(headerOf(failed, 'x-request-id') ?? '');
      expect(call.attempts.map((attempt) => attempt.model)).toEqual([model]);
    });

    it.each([
      ['no inputs', { input: [] }],
      ['2,049 inputs', { input: Array.from({ length: 2_049 }, () => 'a') }],
      ['an empty input', { input: '' }],
      ['an input of another type', { input: { a: 1 } }],
    ])('with %s get the error of the provider, free', async (_name, body) => {
      const answer = await post('/v1/embeddings', { model, ...body });
      expect(answer.status).toBe(400);
      const id = headerOf(answer, 'x-request-id') ?? '';
      expect(await stack.call(id)).toMatchObject({ status: 400, cost: '0' });
    });

    it('of a model of text are refused, and the message names where to call it', async () => {
      const answer = await post('/v1/embeddings', { model: 'sandbox/mini', input: 'a' });
      expect(codeOf(answer)).toBe('model_not_allowed');
      expect(answer.body.toString()).toContain('/v1/chat/completions');
    });
  });

  it('documents are ranked, at the price of what was read', async () => {
    const answer = await post('/v1/rerank', {
      model: 'sandbox/ranker',
      query: 'A calm sea',
      documents: ['A storm at noon.', 'A calm sea'],
      top_n: 1,
    });
    expect(jsonOf(answer).results).toMatchObject([{ index: 1, relevance_score: 1 }]);
    await expectCharged(headerOf(answer, 'x-request-id') ?? '', 'rerank.create', 10, 500n);
  });

  it('moderations are free where their price is', async () => {
    const { data: answer, response } = await openai.moderations
      .create({ model: 'sandbox/moderator', input: ['Hello', 'FORBIDDEN'] })
      .withResponse();
    expect(answer.results.map(({ flagged }) => flagged)).toEqual([false, true]);
    const call = await stack.call(response.headers.get('x-request-id') ?? '');
    expect(call).toMatchObject({ operation: 'moderations.create', cost: '0', usageSource: 'estimated' });
  });

  it('need a model, except for moderations, which have a usual one', async () => {
    const failed = await openai.post('/embeddings', { body: { input: 'Hello' } }).catch((error) => error);
    expect(failed).toBeInstanceOf(BadRequestError);
    expect(String(failed)).toContain('"model" is missing');

    const aliases = { 'omni-moderation-latest': 'sandbox/moderator' };
    const own = await stack.workspace();
    await setPolicy(stack.db, { workspace: own.slug, policy: { aliases } });
    const { key: ownKey } = await stack.key(own.slug);
    const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: ownKey, maxRetries: 0 });
    const answer = await client.moderations.create({ input: 'FORBIDDEN' });
    expect(answer).toMatchObject({ model: 'moderator', results: [{ flagged: true }] });
    const asNull = await post('/v1/moderations', { input: 'FORBIDDEN', model: null }, ownKey);
    expect(jsonOf(asNull)).toMatchObject({ model: 'moderator', results: [{ flagged: true }] });
  });

  it('are listed for the clients that can call them, with their methods', async () => {
    const listed = jsonOf(await ask(stack.url, 'GET', '/v1/models', bearer(key)));
    expect(listed.data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 'sandbox/vectors' }),
        expect.objectContaining({ id: 'sandbox/ranker' }),
      ]),
    );
    const google = jsonOf(await ask(stack.url, 'GET', '/v1beta/models/sandbox/vectors', bearer(key)));
    expect(google.supportedGenerationMethods).toEqual(['embedContent', 'batchEmbedContents']);
  });

  it('go to another offer of the same model, and the model keeps its name in the plan', async () => {
    const { key: scoped } = await stack.key(slug, { models: ['sandbox/vectors'] });
    await eventually(
      async () => (await post('/v1/embeddings', { model: 'vectors', input: 'a' }, scoped)).status,
      200,
    );
  });
});
