import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { addChains, givePolicy, placeIn } from '#tests/gateway/routing/chains';
import { ask, askChat, bearer, codeOf, jsonOf, messageOf } from '#tests/support/chat-call';
import { operate } from '#tests/support/control/operate';
import { type InProcess, startInProcess } from '#tests/support/in-process';
import { headerOf, type Wire } from '#tests/support/wire';

let stack: InProcess;
let key = '';
/** Of a workspace without money. */
let poor = '';

beforeAll(async () => {
  stack = await startInProcess();
  const made = await stack.key();
  key = made.key;
  poor = (await stack.key({}, { credit: '0' })).key;
  const without = { abilities: { tools: false, images: false }, name: 'echo' };
  await addChains(stack, {
    'able/second': [without, 'echo'],
    'able/none': [without],
    'able/fallback': [without],
  });
  const text = `
providers: [{ id: able, name: Able, families: { messages: { env: SANDBOX_URL } }, credential: { env: SANDBOX_KEY } }]
models:
  - { id: able/uncounted, name: U, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: able, upstreamModel: echo, families: [messages], operations: [messages.create], price: { input: "1", output: "4" } }] }
`;
  await operate(stack.db, applyCatalogue, { files: [{ name: 'able.yaml', text }] });
  await stack.announce();
  await givePolicy(stack, made.workspace, { fallbackModels: ['able/second'] }, 'able/fallback');
});
afterAll(() => stack.close());

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
const placeOf = (answer: Wire) => placeIn(headerOf(answer, 'x-answered-provider'));

describe('offers that say what they can do (contract: routing/abilities)', () => {
  it('are passed over by a request that asks for more, and by no other', async () => {
    const plain = await askChat(stack.url, key, { model: 'able/second' });
    expect(placeOf(plain.answer)).toBe('first');
    const asking = await askChat(stack.url, key, { model: 'able/second', tools });
    expect([asking.answer.status, placeOf(asking.answer)]).toEqual([200, 'second']);
    const falling = await askChat(stack.url, key, { model: 'able/fallback', tools });
    expect([falling.answer.status, placeOf(falling.answer)]).toEqual([200, 'second']);
  });

  it('are passed over by a request that is translated for them, by what its client asked', async () => {
    const source = { type: 'url', url: 'https://example.com/p.png' };
    const body = (content: object) =>
      JSON.stringify({
        model: 'able/second',
        max_tokens: 50,
        messages: [{ role: 'user', content: [content] }],
      });
    const headers = { ...bearer(key), 'Content-Type': 'application/json' };
    const say = (content: object) => ask(stack.url, 'POST', '/v1/messages', headers, body(content));
    expect(placeOf(await say({ type: 'text', text: 'hello' }))).toBe('first');
    const seen = await say({ type: 'image', source });
    expect([seen.status, placeOf(seen)]).toEqual([200, 'second']);
  });

  it('refuse what none of them can do before money is asked for, and no provider is called (contract: admission/abilities)', async () => {
    for (const caller of [key, poor]) {
      const { answer, mark } = await askChat(stack.url, caller, { model: 'able/none', tools });
      expect([answer.status, codeOf(answer)]).toEqual([400, 'model_not_allowed']);
      expect(messageOf(answer)).toMatch(/^Model able\/none does not support tools here \(first-able-none\);/);
      expect(await stack.sandbox.seen(mark)).toEqual([]);
    }
    expect(codeOf((await askChat(stack.url, poor, { model: 'able/none' })).answer)).toBe(
      'insufficient_balance',
    );
    expect(stack.heldNano()).toBe(0n);
  });

  it('have their tokens estimated where they do not count them (contract: translation/counting)', async () => {
    const headers = { ...bearer(key), 'Content-Type': 'application/json' };
    const body = { model: 'able/uncounted', messages: [{ role: 'user', content: 'hello' }] };
    const post = (path: string, more: object = {}) =>
      ask(stack.url, 'POST', path, headers, JSON.stringify({ ...body, ...more }));
    const counted = await post('/v1/messages/count_tokens');
    expect([counted.status, headerOf(counted, 'x-token-count')]).toEqual([200, 'estimated']);
    expect((await post('/v1/messages', { max_tokens: 5 })).status).toBe(200);
  });

  it('are shown in the list of models (contract: families/entry-facts)', async () => {
    const { data } = jsonOf(await ask(stack.url, 'GET', '/v1/models', bearer(key))) as {
      data: { id: string; abilities?: object }[];
    };
    const of = (id: string) => data.find((entry) => entry.id === id)?.abilities;
    expect(of('able/none')).toEqual({ tools: false, images: false });
    expect(of('able/second')).toBeUndefined();
  });
});
