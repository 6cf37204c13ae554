import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinCatalogues } from '#lib/control/catalogue/files';
import { catalogueShape } from '#lib/core/schemas/catalogue';
import { readDocument } from '#lib/core/schemas/document';
import { closeBalanced, costOf } from '#tests/support/books';
import { ask, askChat, bearer } from '#tests/support/chat-call';
import { startConnectProxy } from '#tests/support/connect-proxy';
import { applySet } from '#tests/support/provider/apply-set';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, startStack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const cost = 10n * 1_000n + 5n * 4_000n;
const message = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' };
const whole = JSON.stringify({ id: 'c', object: 'chat.completion', choices: [message], usage });
const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...fields })}\n\n`;
const delta = { index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' };
const streamed = `${chunk({ choices: [delta] })}${chunk({ choices: [], usage })}data: [DONE]\n\n`;

/** How the provider treats a connection that it has answered on; read at each request. */
type Manner = 'closes after the answer' | 'closes at the second request';
const manners = ['closes after the answer', 'closes at the second request'] as const;
const kinds = [
  ['a stream', { stream: true }],
  ['a whole answer', {}],
] as const;

let manner: Manner = 'closes after the answer';
let requests = 0;
const uses = new Map<Socket, number>();
let provider: Server;
let url = '';

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      const { socket } = request;
      const nth = (uses.get(socket) ?? 0) + 1;
      uses.set(socket, nth);
      if (manner === 'closes at the second request' && nth > 1) {
        socket.end();
        return;
      }
      const events = request.headers.accept === 'text/event-stream';
      response.setHeader('content-type', events ? 'text/event-stream' : 'application/json');
      response.end(events ? streamed : whole);
      // It says nothing of it: the client thinks that the connection is kept.
      if (manner === 'closes after the answer') response.on('finish', () => socket.end());
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const address = provider.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`;
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

/** Models whose first offer is at this provider: alone, before the simulated one, and of videos. */
async function addModels(stack: Stack, name: string): Promise<void> {
  const credential = { env: 'SANDBOX_KEY' };
  const sandbox = { env: 'SANDBOX_URL' };
  const place = (id: string, root: unknown) => {
    const families = { chat: root, videos: root };
    return { id: `${name}-${id}`, name: id, families, credential, onDisconnect: 'abort' };
  };
  const price = { input: '1', cachedInput: '0.25', output: '4', videoSecond: '0.1' };
  const size = { contextTokens: 100_000, maxOutputTokens: 8_192, input: ['text'] };
  const offer = (at: string, families: readonly string[], upstreamModel: string) => ({
    provider: `${name}-${at}`,
    upstreamModel,
    families,
    price,
  });
  const models = [
    { id: `${name}/one`, ...size, output: ['text'], offers: [offer('a', ['chat'], 'm')] },
    {
      id: `${name}/two`,
      ...size,
      output: ['text'],
      offers: [offer('a', ['chat'], 'm'), offer('b', ['chat'], 'echo')],
    },
    { id: `${name}/film`, ...size, output: ['video'], offers: [offer('a', ['videos'], 'm')] },
  ].map((model) => ({ name: model.id, ...model }));
  const text = JSON.stringify({ providers: [place('a', url), place('b', sandbox)], models });
  await applySet(stack.db, joinCatalogues([readDocument('kept.json', text, catalogueShape)]));
  await stack.announce();
}

async function keyOf(stack: Stack): Promise<string> {
  const workspace = await stack.workspace({ rpm: null, tpm: null, concurrency: null });
  return (await stack.key(workspace.slug)).key;
}

describe('a provider that closes kept connections (contract: routing/pooled-connections)', () => {
  let stack: Stack;
  let key = '';
  beforeAll(async () => {
    stack = await joinStack();
    await addModels(stack, 'kept');
    key = await keyOf(stack);
  });
  afterAll(() => closeBalanced(stack));

  const accept = (fields: object) => ({
    headers: { Accept: 'stream' in fields ? 'text/event-stream' : '*/*' },
  });

  describe.each(manners)('and %s', (how) => {
    describe.each(kinds)('%s', (_, fields) => {
      it.each(['kept/one', 'kept/two'])(
        'is answered by it every time, and charged once: %s',
        async (model) => {
          manner = how;
          for (let at = 0; at < 6; at += 1) {
            const asked = await askChat(stack.url, key, { model, ...fields }, accept(fields));
            expect(asked.answer).toMatchObject({ status: 200, whole: true });
            expect(headerOf(asked.answer, 'x-answered-provider')).toBe('kept-a');
            const call = await stack.call(asked.id);
            expect(costOf(call)).toBe(cost);
            const failed = call.attempts.filter((one) => one.status !== 200);
            expect(call.attempts.length - failed.length).toBe(1);
            expect(failed.every((one) => one.possibleDuplicate && one.provider === 'kept-a')).toBe(true);
          }
        },
      );
    });
  });

  it('makes a video once, though the connection was dropped', async () => {
    manner = 'closes at the second request';
    await askChat(stack.url, key, { model: 'kept/one' });
    const before = requests;
    const headers = { ...bearer(key), 'Content-Type': 'application/json' };
    const body = JSON.stringify({ model: 'kept/film', prompt: 'A fox', seconds: '4' });
    const answer = await ask(stack.url, 'POST', '/v1/videos', headers, body);
    expect(answer.status).toBe(502);
    expect(requests - before).toBe(1);
    const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
    expect(call).toMatchObject({
      cost: '0',
      attempts: [{ status: null, error: 'connection_closed', possibleDuplicate: false }],
    });
  });
});

describe('a gateway behind a proxy (contract: operations/proxies)', () => {
  it.each([
    ['HTTP_PROXY', 'other.test', 1],
    ['http_proxy', '127.0.0.1', 0],
  ])('with %s and NO_PROXY=%s makes %i calls through it', async (name, none, through) => {
    manner = 'closes at the second request';
    const proxy = await startConnectProxy();
    const stack = await startStack({ env: { [name]: proxy.url, NO_PROXY: none } });
    try {
      await addModels(stack, 'proxied');
      const key = await keyOf(stack);
      const asked = await askChat(stack.url, key, { model: 'proxied/one' });
      expect(asked.answer.status).toBe(200);
      expect(proxy.asked).toEqual(through ? [`POST ${url}/chat/completions`] : []);
    } finally {
      await stack.close().finally(() => proxy.close());
    }
  });
});
