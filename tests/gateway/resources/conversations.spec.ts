import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asker, tell } from '#tests/gateway/resources/possessions';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer, codeOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const model = 'sandbox/echo';

describe('conversations (contract: families/conversations)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function newcomer(): Promise<Asker & { readonly client: OpenAI }> {
    const { slug } = await stack.workspace({ rpm: 10_000 });
    const { key } = await stack.key(slug);
    const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });
    return { url: stack.url, key, client };
  }
  const said = (content: string) => ({ type: 'message' as const, role: 'user' as const, content });

  it('are made, labelled, filled, read and deleted with the official SDK', async () => {
    const { conversations } = (await newcomer()).client;
    const made = await conversations.create({ metadata: { topic: 'tea' }, items: [said('One')] });
    expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'tea' } });
    expect(await conversations.retrieve(made.id)).toMatchObject({ id: made.id, metadata: { topic: 'tea' } });
    expect(await conversations.update(made.id, { metadata: { topic: 'milk' } })).toMatchObject({
      metadata: { topic: 'milk' },
    });
    const added = await conversations.items.create(made.id, { items: [said('Two'), said('Three')] });
    const listed: string[] = [];
    for await (const item of conversations.items.list(made.id, { order: 'asc', limit: 2 })) {
      listed.push(JSON.stringify(item.type === 'message' ? item.content : null));
    }
    expect(listed).toEqual(
      ['One', 'Two', 'Three'].map((text) => JSON.stringify([{ type: 'input_text', text }])),
    );
    const [two, three] = added.data.map((item) => String(item.id));
    const within = { conversation_id: made.id };
    expect(await conversations.items.retrieve(two ?? '', within)).toMatchObject({ id: two });
    expect(await conversations.items.delete(three ?? '', within)).toMatchObject({ id: made.id });
    await expect(conversations.items.retrieve(three ?? '', within)).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    expect(await conversations.delete(made.id)).toMatchObject({ deleted: true });
    await expect(conversations.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it.each([false, true])('are read and continued by responses (stream: %s)', async (stream) => {
    const { client } = await newcomer();
    const { id } = await client.conversations.create({ items: [said('My name is Ada')] });
    const first = await client.responses.create({ model, input: 'Hello' });
    const respond = async (fields: object) => {
      const asked = { model, input: 'Hello', ...fields };
      if (!stream) return client.responses.create(asked);
      return client.responses.stream(asked).finalResponse();
    };
    const next = await respond({ conversation: id });
    expect(next.conversation).toEqual({ id });
    expect(next.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0);
    const again = await respond({ conversation: { id } });
    expect(again.usage?.input_tokens).toBeGreaterThan(next.usage?.total_tokens ?? 0);
    const items = await client.conversations.items.list(id);
    expect(items.data.some((item) => item.id === again.output[0]?.id)).toBe(true);
    const elsewhere = client.responses.create({
      model: 'test/responses-drained',
      input: 'Hello',
      conversation: id,
    });
    await expect(elsewhere).rejects.toMatchObject({ status: 400, code: 'model_not_allowed' });
  });

  it('are free, relayed byte for byte both ways, and named in the log without a model', async () => {
    const asker = await newcomer();
    const mark = randomUUID();
    const text = `{ "items" : [ {"role":"user","content":"${mark}"} ],\n "more": 1e3 }`;
    const made = await ask(stack.url, 'POST', '/v1/conversations', bearer(asker.key), text);
    expect([made.status, headerOf(made, 'x-answered-provider')]).toEqual([200, 'sandbox']);
    expect(headerOf(made, 'x-answered-model')).toBeUndefined();
    const [begun] = await stack.sandbox.seen(mark);
    expect(begun).toMatchObject({ method: 'POST', path: '/conversations', body: text });
    const ended = await stack.sandbox.ended(headerOf(made, 'x-upstream-request-id') ?? '');
    expect(made.body.toString()).toBe(Buffer.from(ended.sent ?? '', 'base64').toString());
    const call = await stack.call(headerOf(made, 'x-request-id') ?? '');
    expect(call).toMatchObject({
      operation: 'conversations.create',
      cost: '0',
      requestedModel: null,
      answeringModel: null,
      provider: 'sandbox',
    });
  });

  it('hold what is put into them for the response that reads it', async () => {
    const asker = await newcomer();
    const { body } = await tell(asker, 'POST', '/v1/conversations', { items: [said('x'.repeat(400_000))] });
    const long = { model, conversation: body.id, input: 'Hello', max_output_tokens: 16 };
    const { callId } = await tell(asker, 'POST', '/v1/responses', long);
    const tokens = async () =>
      (
        await stack.db.pool.query('SELECT tokens::int FROM resource WHERE id = $1 AND kind = $2', [
          body.id,
          'conversation',
        ])
      ).rows[0]?.tokens;
    await stack.call(callId);
    const before = await tokens();
    expect(before).toBeGreaterThanOrEqual(100_000);
    await tell(asker, 'POST', `/v1/conversations/${body.id}/items`, { items: [said('x'.repeat(400_000))] });
    await eventually(async () => ((await tokens()) ?? 0) >= before + 100_000, true);
  });

  it('do not show another workspace’s item, even under an own conversation', async () => {
    const [owner, stranger] = [await newcomer(), await newcomer()];
    const theirs = await tell(owner, 'POST', '/v1/conversations', { items: [said('Mine')] });
    const { body } = await tell(owner, 'GET', `/v1/conversations/${theirs.body.id}/items`);
    const own = await tell(stranger, 'POST', '/v1/conversations', {});
    const path = `/v1/conversations/${own.body.id}/items/${body.first_id}`;
    await eventually(async () => (await tell(stranger, 'GET', path)).code, 'not_found');
    expect(await tell(stranger, 'DELETE', path)).toMatchObject({ status: 404, code: 'not_found' });
    expect(
      (await tell(owner, 'GET', `/v1/conversations/${theirs.body.id}/items/${body.first_id}`)).status,
    ).toBe(200);
  });

  it.each([
    ['POST', '/v1/conversations', '[]'],
    ['POST', '/v1/conversations', '{"items":'],
    ['POST', '/v1/conversations', '{"items":[{"id":"a","id":"b"}]}'],
  ])('are refused by our own checks: %s %s %s', async (method, path, body) => {
    const asker = await newcomer();
    const answer = await ask(stack.url, method, path, bearer(asker.key), body);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_body']);
  });

  it('pass their provider’s own refusals', async () => {
    const asker = await newcomer();
    const many = Array.from({ length: 21 }, () => said('x'));
    const refused = await tell(asker, 'POST', '/v1/conversations', { items: many });
    expect([refused.status, refused.code]).toEqual([400, 'array_above_max_length']);
  });

  describe('go to the provider that the request or the policy names (contract: routing/no-model)', () => {
    const create = (asker: Asker, headers: Readonly<Record<string, string>>) =>
      ask(stack.url, 'POST', '/v1/conversations', { ...bearer(asker.key), ...headers }, '{}');

    it('which must store them', async () => {
      const asker = await newcomer();
      const named = await create(asker, { 'x-provider': 'sandbox' });
      expect([named.status, headerOf(named, 'x-answered-provider')]).toEqual([200, 'sandbox']);
      const wrong = await create(asker, { 'x-provider': 'nobody' });
      expect([wrong.status, codeOf(wrong)]).toEqual([400, 'invalid_body']);
      expect(wrong.body.toString()).toContain('sandbox');
    });
  });
});
