import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asker, complete, tell } from '#tests/gateway/resources/possessions';
import { closeBalanced, costOf, fairNano } from '#tests/support/books';
import { ask, bearer } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

describe('stored chat completions (contract: families/stored-completions)', () => {
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

  const messages = [{ role: 'user' as const, content: 'Say hello' }];
  const stored = { model: 'sandbox/echo', messages, store: true };
  const path = '/v1/chat/completions';

  it('are read, labelled, listed and deleted with the official SDK', async () => {
    const { client } = await newcomer();
    const made = await client.chat.completions.create({ ...stored, metadata: { topic: 'greeting' } });
    const call = await stack.call(made._request_id ?? '');
    const [attempt] = call.attempts;
    expect(costOf(call)).toBe(fairNano(await stack.sandbox.ended(attempt?.upstreamRequestId ?? '')));

    const { _request_id: _, ...answer } = made;
    const read = await client.chat.completions.retrieve(made.id);
    expect(read).toMatchObject({ ...answer, metadata: { topic: 'greeting' } });
    const said = await client.chat.completions.messages.list(made.id);
    expect(said.data).toMatchObject([{ id: `${made.id}-0`, role: 'user', content: 'Say hello' }]);

    const changed = await client.chat.completions.update(made.id, { metadata: { topic: 'farewell' } });
    expect(changed).toMatchObject({ id: made.id, metadata: { topic: 'farewell' } });
    const list = (topic: string) => client.chat.completions.list({ metadata: { topic } });
    await eventually(async () => (await list('farewell')).data.map(({ id }) => id), [made.id]);
    expect((await list('greeting')).data).toEqual([]);

    expect(await client.chat.completions.delete(made.id)).toMatchObject({ id: made.id, deleted: true });
    await expect(client.chat.completions.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect((await client.chat.completions.list()).data).toEqual([]);
  });

  it('are found from the first chunk of a stream on', async () => {
    const { client } = await newcomer();
    const stream = await client.chat.completions.create({ ...stored, stream: true });
    let read: Promise<OpenAI.ChatCompletion> | undefined;
    for await (const chunk of stream) read ??= client.chat.completions.retrieve(chunk.id);
    expect((await read)?.choices[0]?.message.content).toContain('Say hello');
  });

  it('are listed in pages, by model and in both orders, without what was said', async () => {
    const { client } = await newcomer();
    const ids: string[] = [];
    for (const model of ['sandbox/echo', 'sandbox/reasoner', 'sandbox/echo', 'sandbox/echo']) {
      ids.push((await client.chat.completions.create({ ...stored, model })).id);
    }
    const listed = async (query: OpenAI.ChatCompletionListParams) => {
      const found: string[] = [];
      for await (const { id } of client.chat.completions.list(query)) found.push(id);
      return found;
    };
    await eventually(() => listed({}), ids);
    expect(await listed({ limit: 1 })).toEqual(ids);
    expect(await listed({ limit: 3, order: 'desc' })).toEqual([...ids].reverse());
    expect(await listed({ model: 'sandbox/reasoner' })).toEqual([ids[1]]);
    expect(await listed({ model: 'reasoner' })).toEqual([ids[1]]);
    expect(await listed({ after: 'chatcmpl-unknown' })).toEqual([]);
    const page = await client.chat.completions.list({ limit: 2 });
    expect(page).toMatchObject({ has_more: true });
    expect(page.data[0]).toEqual({
      id: ids[0],
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'echo',
      metadata: {},
      choices: [],
    });
  });

  it('are relayed byte for byte, free of charge', async () => {
    const asker = await newcomer();
    const { body } = await complete(asker, { store: true });
    const read = await ask(stack.url, 'GET', `${path}/${body.id}`, bearer(asker.key));
    const ended = await stack.sandbox.ended(headerOf(read, 'x-upstream-request-id') ?? '');
    expect(read.body.toString()).toBe(Buffer.from(ended.sent ?? '', 'base64').toString());
    const call = await stack.call(headerOf(read, 'x-request-id') ?? '');
    expect(call).toMatchObject({ operation: 'chat.retrieve', cost: '0', usageSource: 'none' });
    // The provider gets the client's own bytes.
    const text = '{ "metadata" : {"a":"\\u0062"},  "more": 1e3 }';
    const updated = await ask(stack.url, 'POST', `${path}/${body.id}`, bearer(asker.key), text);
    expect(updated.status).toBe(200);
    const [line] = await stack.sandbox.lines({ id: headerOf(updated, 'x-upstream-request-id') ?? '' });
    expect(line).toMatchObject({ path: `/chat/completions/${body.id}`, body: text });
  });

  it.each([{ store: false }, { store: null }, {}])(
    'are none without store: true: %j',
    async (fields: object) => {
      const asker = await newcomer();
      const { body } = await complete(asker, fields);
      expect(await tell(asker, 'GET', `${path}/${body.id}`)).toMatchObject({
        status: 404,
        code: 'not_found',
      });
    },
  );

  it('are refused by our own checks of what cannot be meant', async () => {
    const asker = await newcomer();
    const { body } = await complete(asker, { store: true });
    const wrong = [
      await complete(asker, { store: 'true' }),
      await tell(asker, 'GET', `${path}?limit=-1`),
      await tell(asker, 'POST', `${path}/${body.id}`),
    ];
    for (const { status, code } of wrong) expect([status, code]).toEqual([400, 'invalid_body']);
    // What its provider refuses is the provider's answer.
    const refused = await tell(asker, 'POST', `${path}/${body.id}`, { metadata: 'x' });
    expect([refused.status, refused.code]).toEqual([400, 'invalid_type']);
  });

  it('take labels that no database column takes, and never more than the protocol allows', async () => {
    const asker = await newcomer();
    const odd = await complete(asker, { store: true, metadata: { nul: 'a\u0000b', half: '\ud800', n: 1 } });
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']));
    const over = await complete(asker, { store: true, metadata: many });
    const list = async () => [(await tell(asker, 'GET', path)).body.data].flat();
    await eventually(async () => (await list()).length, 2);
    expect(await list()).toMatchObject([
      { id: odd.body.id, metadata: { nul: 'a\ufffdb', half: '\ufffd' } },
      { id: over.body.id, metadata: {} },
    ]);
  });
});
