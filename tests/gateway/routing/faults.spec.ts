import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinCatalogues } from '#lib/control/catalogue/files';
import { catalogueShape } from '#lib/core/schemas/catalogue';
import { readDocument } from '#lib/core/schemas/document';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer } from '#tests/support/chat-call';
import { applySet } from '#tests/support/provider/apply-set';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, type Wire } from '#tests/support/wire';

const openai = (code: string, message: string) => ({
  error: { message, type: 'invalid_request_error', code },
});
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message } });
const google = (code: number, status: string, message: string) => ({ error: { code, status, message } });

const families = ['chat', 'responses', 'messages', 'generate-content'] as const;
type Family = (typeof families)[number];

type Answer = readonly [status: number, body: object];

/** What a provider answers whose model is gone, whose account is empty, and whose client is wrong. */
const answers: Readonly<Record<Family, Readonly<Record<string, Answer>>>> = {
  chat: {
    gone: [404, openai('model_not_found', 'The model `x` does not exist or you do not have access to it.')],
    ended: [410, { title: 'Gone', status: 410, detail: "The model 'x' has reached its end of life." }],
    account: [400, openai('billing_hard_limit_reached', 'Billing hard limit has been reached.')],
    overload: [530, {}],
    own: [404, openai('not_found', 'No such File object: file-x')],
  },
  responses: {
    gone: [400, openai('model_not_found', "The requested model 'x' does not exist.")],
    ended: [410, {}],
    account: [400, openai('insufficient_quota', 'You exceeded your current quota.')],
    overload: [598, {}],
    own: [404, openai('not_found', "Container with id 'cntr_x' not found.")],
  },
  messages: {
    gone: [404, anthropic('not_found_error', 'model: claude-x')],
    ended: [410, {}],
    account: [400, anthropic('invalid_request_error', 'This organization has been disabled.')],
    overload: [529, anthropic('overloaded_error', 'Overloaded')],
    own: [404, anthropic('not_found_error', 'File not found: file_x')],
  },
  'generate-content': {
    gone: [404, google(404, 'NOT_FOUND', 'models/x is not found for API version v1beta.')],
    ended: [410, {}],
    account: [400, google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.')],
    overload: [499, google(499, 'CANCELLED', 'The operation was cancelled.')],
    own: [400, google(400, 'INVALID_ARGUMENT', 'Unknown name "x".')],
  },
};
const kinds = ['gone', 'ended', 'account', 'overload'] as const;
const price = { input: '1', cachedInput: '0.25', output: '4' };

let provider: Server;
let stack: Stack;
let key = '';

/** A model for each family, kind and count of targets: the first target fails, a second one is the simulated provider. */
const slug = (family: Family, kind: string, targets: number) => `faults/${family}-${kind}-${targets}`;

beforeAll(async () => {
  provider = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = `${request.url} ${Buffer.concat(parts)}`;
      const [, family = '', kind = ''] =
        /fault_(chat|responses|messages|generate-content)_(\w+)_/.exec(text) ?? [];
      const [status, body] = families.includes(family as Family)
        ? (answers[family as Family][kind] ?? [500, {}])
        : [500, {}];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const place = provider.address();
  const url = `http://127.0.0.1:${typeof place === 'object' ? place?.port : 0}/v1`;
  stack = await joinStack();
  const credential = { env: 'SANDBOX_KEY' };
  const providers: object[] = [];
  const models: object[] = [];
  for (const family of families) {
    for (const kind of Object.keys(answers[family])) {
      for (const targets of [1, 2]) {
        const id = slug(family, kind, targets);
        const [bad, good] = [`${id.replace('/', '-')}-a`, `${id.replace('/', '-')}-b`];
        providers.push(
          { id: bad, name: bad, families: { [family]: url }, credential, onDisconnect: 'abort' },
          {
            id: good,
            name: good,
            families: { [family]: { env: 'SANDBOX_URL' } },
            credential,
            onDisconnect: 'abort',
          },
        );
        const offer = (at: string, upstreamModel: string) => ({
          provider: at,
          upstreamModel,
          families: [family],
          price,
        });
        const offers = [offer(bad, `fault_${family}_${kind}_`), offer(good, 'echo')];
        const size = { contextTokens: 1_000_000, maxOutputTokens: 65_536, input: ['text'], output: ['text'] };
        models.push({ id, name: id, ...size, offers: offers.slice(0, targets) });
      }
    }
  }
  const text = JSON.stringify({ providers, models });
  await applySet(stack.db, joinCatalogues([readDocument('faults.json', text, catalogueShape)]));
  await stack.announce();
  const workspace = await stack.workspace({ rpm: null, tpm: null, concurrency: null });
  ({ key } = await stack.key(workspace.slug));
});
afterAll(async () => {
  await closeBalanced(stack).finally(() => provider.close());
});

function send(family: Family, model: string, stream: boolean): Promise<Wire> {
  const headers = { ...bearer(key), 'Content-Type': 'application/json' };
  const messages = [{ role: 'user', content: 'Hello' }];
  const requests: Record<Family, readonly [string, object]> = {
    chat: ['/v1/chat/completions', { model, messages, stream }],
    responses: ['/v1/responses', { model, input: 'Hello', stream, store: false }],
    messages: ['/v1/messages', { model, messages, stream, max_tokens: 64 }],
    'generate-content': [
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    ],
  };
  const [path, body] = requests[family];
  return ask(stack.url, 'POST', path, headers, JSON.stringify(body));
}

const idOf = (answer: Wire) => headerOf(answer, 'x-request-id') ?? '';

describe.each(families)('%s (contract: families/faults, routing/next-target)', (family) => {
  describe.each([
    ['a stream', true],
    ['a whole answer', false],
  ])('%s', (_, stream) => {
    it.each(kinds)('of an offer that fails with %s comes from the next target', async (kind) => {
      const [status] = answers[family][kind] ?? [];
      const answer = await send(family, slug(family, kind, 2), stream);
      expect(answer).toMatchObject({ status: 200, whole: true });
      const call = await stack.call(idOf(answer));
      expect(call).toMatchObject({ endReason: 'completed', attempts: [{ status }, { status: 200 }] });
    });

    it.each(kinds)(
      'of the last offer, which fails with %s, passes as it came and is no fault of the client',
      async (kind) => {
        const [status, body] = answers[family][kind] ?? [];
        const answer = await send(family, slug(family, kind, 1), stream);
        expect(answer.status).toBe(status);
        expect(answer.body.toString()).toBe(JSON.stringify(body));
        expect(await stack.call(idOf(answer))).toMatchObject({
          status,
          endReason: 'upstream_error',
          cost: '0',
        });
      },
    );

    it('passes the client’s own fault, without another attempt', async () => {
      const [status, body] = answers[family].own ?? [];
      const answer = await send(family, slug(family, 'own', 2), stream);
      expect(answer.status).toBe(status);
      expect(answer.body.toString()).toBe(JSON.stringify(body));
      expect(headerOf(answer, 'x-attempts')).toBe('1');
      expect(await stack.call(idOf(answer))).toMatchObject({ status, endReason: 'completed' });
    });
  });

  it('sets an offer whose model is gone aside after five failures (contract: routing/breaker)', async () => {
    const model = slug(family, 'ended', 2);
    for (let at = 0; at < 5; at += 1) await send(family, model, false);
    expect(headerOf(await send(family, model, false), 'x-attempts')).toBe('1');
  });
});
