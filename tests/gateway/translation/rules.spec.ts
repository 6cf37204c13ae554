import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { setPolicy } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const hello = [{ role: 'user', content: 'Hello' }];

describe.each(['node', 'web'] as const)('translated calls over the %s lane', (lane) => {
  let stack: Stack;
  let key = '';
  let slug = '';
  beforeAll(async () => {
    stack = await joinStack(lane);
    ({ slug } = await stack.workspace({ credit: '100', rpm: null, tpm: null, concurrency: null }));
    ({ key } = await stack.key(slug));
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const chat = (body: object, headers: Record<string, string> = {}, as = key) =>
    ask(
      stack.url,
      'POST',
      '/v1/chat/completions',
      { 'content-type': 'application/json', ...bearer(as), ...headers },
      JSON.stringify({ model: 'sandbox/only-messages', messages: hello, ...body }),
    );

  it('are refused by X-Translate: never, and the message names the path that works', async () => {
    const answer = await chat({}, { 'x-translate': 'never' });
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe('model_not_allowed');
    expect(answer.body.toString()).toContain('/v1/messages');
  });

  it('are refused by a policy, for one model or for all (contract: translation/policy)', async () => {
    const other = await stack.workspace({ rpm: null });
    const { key: theirs } = await stack.key(other.slug);
    await setPolicy(stack.db, { workspace: other.slug, policy: { translate: 'never' } });
    expect(codeOf(await chat({}, {}, theirs))).toBe('model_not_allowed');
    await setPolicy(stack.db, {
      workspace: other.slug,
      model: 'sandbox/only-messages',
      policy: { translate: 'allow' },
    });
    await eventually(async () => (await chat({}, {}, theirs)).status, 200);
  });

  it('name what is left out (contract: translation/losses)', async () => {
    const answer = await chat({ logit_bias: { 50256: -100 }, top_k: 3, made_up: true });
    expect(answer.status, answer.body.toString()).toBe(200);
    expect(headerOf(answer, 'x-translation-loss')).toBe('logit_bias, made_up');
    const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
    expect(call.attempts).toMatchObject([{ translatedTo: 'messages', lost: ['logit_bias', 'made_up'] }]);
  });

  it.each([
    ['two answers', { n: 2 }, 'n'],
    ['probabilities', { logprobs: true }, 'logprobs'],
    ['sound', { modalities: ['text', 'audio'] }, 'modalities'],
    [
      'a result without its call',
      { messages: [...hello, { role: 'tool', tool_call_id: 'x', content: '1' }] },
      'x',
    ],
    ['content of no type', { messages: [{ role: 'user', content: [{ type: 'nothing' }] }] }, 'content'],
  ])(
    'are refused for %s, and the message names the field (contract: translation/refused)',
    async (_, body, field) => {
      const answer = await chat(body);
      expect(answer.status).toBe(400);
      expect(codeOf(answer)).toBe('invalid_body');
      expect(answer.body.toString()).toContain(field);
    },
  );

  it('give a client of generate-content that asked for no events a JSON array (contract: translation/streams)', async () => {
    const answer = await ask(
      stack.url,
      'POST',
      '/v1beta/models/sandbox/only-chat:streamGenerateContent',
      { 'content-type': 'application/json', ...bearer(key) },
      JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
    );
    expect(headerOf(answer, 'content-type')).toContain('application/json');
    const elements = JSON.parse(answer.body.toString()) as { candidates: object[] }[];
    expect(elements.length).toBeGreaterThan(2);
    expect(elements.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }], usageMetadata: {} });
  });

  it('are not made for what a provider keeps', async () => {
    const answer = await ask(
      stack.url,
      'POST',
      '/v1/responses',
      { 'content-type': 'application/json', ...bearer(key) },
      JSON.stringify({ model: 'sandbox/only-chat', input: 'Hello', background: true }),
    );
    expect(answer.status).toBe(400);
    expect(jsonOf(answer)).toMatchObject({ error: { message: expect.stringContaining('background') } });
  });
});
