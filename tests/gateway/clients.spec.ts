import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, askChat, bearer, jsonOf, receivedOf } from '#tests/support/chat-call';
import { expireKey, setPolicy } from '#tests/support/control/operate';
import { expectRefusal, expectRefusedRow } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, talk } from '#tests/support/wire';

const json = { 'Content-Type': 'application/json' };
const hello = [{ role: 'user', content: 'Hello' }];
const chat = JSON.stringify({ model: 'sandbox/echo', messages: hello });
const messages = JSON.stringify({ model: 'sandbox/echo', max_tokens: 5, messages: hello });
const responses = JSON.stringify({ model: 'sandbox/echo', input: 'Hello' });
const content = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });

describe.each(['node', 'web'] as const)('what clients send first, over the %s lane', (lane) => {
  let stack: Stack;
  let key: string;
  let slug: string;
  beforeAll(async () => {
    stack = await joinStack(lane);
    ({ slug } = await stack.workspace({}));
    ({ key } = await stack.key(slug));
  });
  afterAll(() => stack.close());

  const post = (target: string, body: string, headers: Record<string, string> = bearer(key)) =>
    ask(stack.url, 'POST', target, { ...json, ...headers }, body);

  describe('an address without its version, or with two (contract: request/addresses)', () => {
    it.each([
      ['/chat/completions', chat, 'chat.create'],
      ['/responses', responses, 'responses.create'],
      ['/messages?beta=true', messages, 'messages.create'],
      ['//v1/chat/completions', chat, 'chat.create'],
      ['/v1//chat/completions', chat, 'chat.create'],
      ['//responses', responses, 'responses.create'],
      ['/v1beta//models/sandbox/echo:generateContent', content, 'content.generate'],
      ['/v1/v1/messages', messages, 'messages.create'],
      ['/v1/v1/messages/count_tokens', messages, 'messages.count_tokens'],
      ['/models/sandbox/echo:generateContent', content, 'content.generate'],
      ['/v1beta/v1beta/models/sandbox/echo:generateContent', content, 'content.generate'],
      ['/v1/v1beta/models/sandbox/echo:generateContent', content, 'content.generate'],
      ['/v1beta/v1/chat/completions', chat, 'chat.create'],
    ])('POST %s is served as if it were right', async (target, body, operation) => {
      const answer = await post(target, body);
      expect(answer.status, answer.body.toString()).toBe(200);
      const row = await stack.call(headerOf(answer, 'x-request-id') ?? '');
      expect(row).toMatchObject({ operation, status: 200, requestedModel: 'sandbox/echo' });
    });

    it('is read with a key of ours, in a header or the query', async () => {
      const list = jsonOf(await ask(stack.url, 'GET', '/models', bearer(key)));
      expect(list).toMatchObject({ object: 'list' });
      expect(jsonOf(await ask(stack.url, 'GET', '/v1/v1/models', bearer(key)))).toEqual(list);
      expect(jsonOf(await ask(stack.url, 'GET', `/models?key=${key}`))).toHaveProperty('models');
      expect(jsonOf(await ask(stack.url, 'GET', '/models/sandbox/echo', bearer(key)))).toMatchObject({
        id: 'sandbox/echo',
      });
    });

    it('names its program in UTF-8, and the log keeps that (contract: call-log/user-agent)', async () => {
      for (const encoding of ['utf8', 'latin1'] as const) {
        const name = encoding === 'utf8' ? 'curl/Привет-🌍' : 'café';
        const text = `GET /v1/models HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nUser-Agent: ${name}\r\n\r\n`;
        const [answer] = (await talk(stack.url, Buffer.from(text, encoding))).answers;
        const id = answer && headerOf(answer, 'x-request-id');
        expect((await stack.call(id ?? '')).userAgent).toBe(name);
      }
    });

    it('needs a key as ever', async () => {
      expectRefusal(
        await ask(stack.url, 'POST', '/chat/completions', json, chat),
        'missing_platform_authorization',
      );
    });
  });

  describe('whatever no operation is (contract: request/json-for-programs)', () => {
    it.each([
      ['POST', '/', '/v1/models'],
      ['POST', `/acme/keys`, '/v1/models'],
      ['PUT', '/sign-in', '/v1/models'],
      ['GET', '/', '/v1/models'],
      ['GET', '/sign-in', '/v1/models'],
      ['GET', '/acme/keys/', '/v1/models'],
      ['POST', '/api/chat', '/v1/chat/completions'],
      ['GET', '/api/nothing', '/v1/models'],
      ['POST', '/v1/responses/compress', '/v1/responses'],
      ['POST', '/v1beta/models/sandbox/echo:embedText', ':generateContent'],
    ])(
      '%s %s with a key: JSON, no page and no redirect, and a row in the log',
      async (method, target, near) => {
        const answer = await ask(
          stack.url,
          method,
          target,
          { ...bearer(key), ...json },
          method === 'GET' ? '' : chat,
        );
        const id = expectRefusal(answer, 'not_found', key);
        expect(answer.body.toString()).toContain(near);
        await expectRefusedRow(stack, id, 'not_found');
      },
    );

    it.each([
      ['POST', '/acme/keys'],
      ['DELETE', '/'],
      ['OPTIONS', '/models'],
      ['GET', '/api/nothing'],
    ])('%s %s without one: JSON and an id', async (method, target) => {
      const answer = await ask(stack.url, method, target, json);
      expectRefusal(answer, answer.status === 405 ? 'method_not_allowed' : 'not_found');
    });

    it('a wrong method with a key is in the log, whatever the state of the key', async () => {
      const id = expectRefusal(
        await ask(stack.url, 'PUT', '/v1/responses', bearer(key)),
        'method_not_allowed',
      );
      await expectRefusedRow(stack, id, 'method_not_allowed');
      expect(await stack.call(id)).toMatchObject({
        workspace: slug,
        family: 'unknown',
        operation: 'unknown',
      });
      const expired = await stack.key(slug);
      await expireKey(stack.db, expired.id);
      await stack.announce();
      await expectRefusedRow(
        stack,
        expectRefusal(await ask(stack.url, 'GET', '/v1/nothing', bearer(expired.key)), 'not_found'),
        'not_found',
      );
    });
  });

  it('a WebSocket handshake that is not accepted is 426, on which clients turn to HTTP', async () => {
    const incomplete = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
    // The node lane accepts a complete one (contract: sockets/sockets-of-lanes).
    const upgrade = {
      ...incomplete,
      ...(lane === 'web' ? { 'Sec-WebSocket-Key': `${'a'.repeat(22)}==` } : {}),
    };
    for (const target of ['/v1/responses', '/responses']) {
      const answer = await ask(stack.url, 'GET', target, { ...bearer(key), ...upgrade });
      expect([answer.status, headerOf(answer, 'allow')]).toEqual([426, 'POST']);
      expect(jsonOf(answer)).toMatchObject({ error: { code: 'method_not_allowed' } });
      expect(await stack.call(headerOf(answer, 'x-request-id') ?? '')).toMatchObject({ status: 426 });
    }
  });

  describe('a model is named (contract: families/names, families/slug-everywhere)', () => {
    let own: string;
    beforeAll(async () => {
      const workspace = await stack.workspace({});
      ({ key: own } = await stack.key(workspace.slug));
      const aliases = { smart: 'sandbox/mini', tried: ['test/closed', 'sandbox/print', 'sandbox/mini'] };
      await setPolicy(stack.db, { workspace: workspace.slug, policy: { aliases } });
      await stack.announce();
    });

    it.each([
      ['the part after the slash', 'echo', 'sandbox/echo'],
      ['an alias of the catalogue', 'named-latest', 'test/named'],
      ['an alias of the workspace', 'smart', 'sandbox/mini'],
      ['a chain of the workspace', 'tried', 'sandbox/mini'],
    ])(
      'by %s: headers and log speak of the slug, the row keeps what was sent',
      async (_by, name, answering) => {
        const { answer, id, ...asked } = await askChat(stack.url, own, { model: name });
        expect(answer.status, answer.body.toString()).toBe(200);
        expect(headerOf(answer, 'x-answered-model')).toBe(answering);
        expect(await stack.call(id)).toMatchObject({ requestedModel: name, answeringModel: answering });
        const { model } = await receivedOf(stack, asked);
        expect(jsonOf(answer)).toMatchObject({ model });
      },
    );

    it('from a list that has the aliases of the workspace, in each shape (contract: families/model-lists)', async () => {
      const listed = async (target: string) => jsonOf(await ask(stack.url, 'GET', target, bearer(own)));
      const named = { id: 'smart', name: 'smart', context_length: 4096 };
      const { data, models } = await listed('/v1/models?client_version=0.155.0');
      expect(data).toContainEqual(expect.objectContaining(named));
      expect(data).toContainEqual(expect.objectContaining({ id: 'tried' }));
      expect(models).toContainEqual(expect.objectContaining({ slug: 'smart', context_window: 4096 }));
      const content = await listed('/v1beta/models');
      expect(content.models).toContainEqual(
        expect.objectContaining({ name: 'models/smart', inputTokenLimit: 4096 }),
      );
      expect(await listed('/v1/models/smart')).toMatchObject(named);
      const scoped = await stack.key(slug, { models: ['sandbox/mini'] });
      const others = jsonOf(await ask(stack.url, 'GET', '/v1/models', bearer(scoped.key)));
      expect(JSON.stringify(others)).not.toContain('smart');
    });

    it('in the scope of the key: a bare name of another model is refused', async () => {
      const scoped = await stack.key(slug, { models: ['sandbox/mini'] });
      expect((await askChat(stack.url, scoped.key, { model: 'mini' })).answer.status).toBe(200);
      const refused = await askChat(stack.url, scoped.key, { model: 'echo' });
      expectRefusal(refused.answer, 'model_not_allowed');
      expect(await stack.call(refused.id)).toMatchObject({ requestedModel: 'echo', answeringModel: null });
    });

    it('the same in paths, in nested places and where one model is read', async () => {
      const path = await post('/v1beta/models/echo:generateContent', content);
      expect(path.status, path.body.toString()).toBe(200);
      const fallbacks = [{ model: 'mini' }];
      const nested = await post(
        '/v1/messages',
        JSON.stringify({ model: 'echo', max_tokens: 5, messages: hello, fallbacks }),
      );
      expect(nested.status, nested.body.toString()).toBe(200);
      const read = await ask(stack.url, 'GET', '/v1/models/named-latest', bearer(key));
      expect(jsonOf(read)).toMatchObject({ id: 'test/named' });
    });
  });

  it('a list of models pages and prices, in the shape that the client reads', async () => {
    const list = async (target: string) => jsonOf(await ask(stack.url, 'GET', target, bearer(key)));
    const first = await list('/v1/models?limit=1');
    expect(first).toMatchObject({ has_more: true, first_id: first.last_id });
    expect(first.data).toEqual([
      expect.objectContaining({
        context_length: expect.any(Number),
        pricing: expect.objectContaining({ prompt: expect.stringMatching(/^0(\.\d+)?$/) }),
      }),
    ]);
    const second = await list(`/v1/models?limit=1&after_id=${first.last_id}`);
    expect(second.first_id).not.toBe(first.last_id);
    expect((await list(`/v1/models?before_id=${second.first_id}`)).last_id).toBe(first.last_id);
    const { models: two } = await list('/v1beta/models?pageSize=2');
    const { models: one, nextPageToken } = await list('/v1beta/models?pageSize=1');
    const { models: next } = await list(`/v1beta/models?pageSize=1&pageToken=${nextPageToken}`);
    expect([one, next].flat()).toEqual(two);
  });

  it('a placeholder in Authorization does not spoil a good key beside it', async () => {
    const headers = { Authorization: 'Bearer sk-dummy', 'x-api-key': key };
    expect((await post('/v1/messages', messages, headers)).status).toBe(200);
  });
});
