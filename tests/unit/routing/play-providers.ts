import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { CredentialFacts } from '#lib/core/facts/credential';
import { chat } from '#lib/core/families/chat';
import type { Ask, Family } from '#lib/core/families/family';
import { generateContent } from '#lib/core/families/generate-content';
import { messages } from '#lib/core/families/messages';
import { responses } from '#lib/core/families/responses';
import { noClouds } from '#lib/gateway/clouds/access';
import { tryTargets } from '#lib/gateway/flow/attempt/try-targets';
import { extendCall } from '#lib/gateway/flow/call/call';
import { CredentialCounts } from '#lib/gateway/limits/credential-limits';
import { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import { createHealth } from '#lib/gateway/routing/breaker';
import type { Target } from '#lib/gateway/routing/pure/target';
import type { Answer } from '#lib/gateway/upstream/attempt';
import { createPools } from '#lib/gateway/upstream/pools';
import { systemClock } from '#lib/platform/clock';
import { askContent } from '#tests/unit/families/content/make';
import { askChat, calledBy, makeCredential, makeProvider } from '#tests/unit/families/make';
import { askMessages } from '#tests/unit/families/messages/make';
import { askResponse } from '#tests/unit/families/responses/make';
import { plannedCall } from '#tests/unit/gateway/make-call';
import { aimedAt, failure, modelOf, offerAt } from '#tests/unit/routing/make';

/** What a provider does with a request. */
export type Manner = (response: ServerResponse) => void;

export const sse = { 'content-type': 'text/event-stream' };
export const json = { 'content-type': 'application/json' };

/** A server that plays the providers of one file, and what the gateway learns of them; a new one for each test. */
export function playProviders() {
  const pools = createPools();
  const offerFaults = new OfferFaults(() => {});
  let server: Server;
  let origin = '';
  const state = {
    /** Of the test, in its addresses: what an earlier one sent and gave up may arrive late. */
    number: 0,
    manners: {} as Readonly<Record<string, Manner>>,
    /** Places of the targets in the order of arrival. */
    arrived: [] as string[],
    health: createHealth(),
    counts: new CredentialCounts(systemClock, null),
    /** Limits that credentials have of their own, by name. */
    limits: {} as Readonly<Record<string, { readonly rpm?: number; readonly tpm?: number }>>,
  };
  beforeAll(async () => {
    server = createServer((request, response) => {
      const [, test = '', path = ''] = (request.url ?? '').split('/');
      // In a pool, the credential says who answers.
      const place = path === 'pool' ? (request.headers.authorization ?? '').slice('Bearer '.length) : path;
      if (test !== `${state.number}`) return;
      state.arrived.push(place);
      request.resume();
      state.manners[place]?.(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    origin = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '';
  });
  afterAll(async () => {
    await pools.close();
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    state.number += 1;
    state.arrived = [];
    state.health = createHealth();
    state.counts = new CredentialCounts(systemClock, null);
    state.limits = {};
  });

  /** Tries the manners in their order. @param limits of the call, where they differ from a minute, ms. */
  async function run(
    { family, ask }: { readonly family: Family; readonly ask: Ask },
    tried: Readonly<Record<string, Manner>>,
    limits: { readonly holdMs?: number; readonly firstWordMs?: number; readonly firstByteMs?: number } = {},
  ) {
    state.manners = tried;
    const targets = Object.keys(tried).map((place) => targetAt(place, place, calledBy('s').pool, family));
    return attempt({ family, ask }, targets, 4, limits);
  }

  function targetAt(
    provider: string,
    place: string,
    pool: readonly CredentialFacts[],
    { id }: Family,
  ): Target {
    const facts = makeProvider({ id: provider, credentials: pool });
    const offer = offerAt(provider, 'm', { provider: facts });
    const [credential] = pool;
    if (!offer.price || !credential) throw new Error('the offer has a price, and its pool a credential');
    const address = new URL(`${origin}/${state.number}/${place}`);
    const model = modelOf('m', [offer]);
    return { model, offer, family: id, address, credential, pool, price: offer.price, injectBudget: null };
  }

  function ownLimits(name: string): Pick<CredentialFacts, 'limits'> {
    const own = state.limits[name];
    if (own === undefined) return {};
    const { rpm = null, tpm = null } = own;
    return { limits: { id: name, providerId: 'p', stored: { rpm, tpm, concurrency: null } } };
  }

  /** Chat calls of providers with pools, in the order of the names. @param most attempts. */
  function runPools(
    pools: Readonly<Record<string, Readonly<Record<string, Manner>>>>,
    most = 4,
    limits: { readonly firstByteMs?: number } = {},
  ) {
    state.manners = Object.assign({}, ...Object.values(pools));
    const targets = Object.entries(pools).map(([provider, pool]) =>
      targetAt(
        provider,
        'pool',
        Object.keys(pool).map((name) => makeCredential({ name, secret: name, ...ownLimits(name) })),
        chat,
      ),
    );
    return attempt({ family: chat, ask: askChat({ model: 'm' }) }, targets, most, limits);
  }

  async function attempt(
    { family, ask }: { readonly family: Family; readonly ask: Ask },
    targets: readonly Target[],
    attempts: number,
    limits: object,
  ) {
    const planned = plannedCall(family, ask, targets);
    const timeLimits = { ...planned.plan.timeLimits, ...limits };
    const call = extendCall(planned, { plan: { ...planned.plan, attempts, timeLimits } });
    const { answer, limitedMs } = await tryTargets(
      {
        clock: systemClock,
        pools,
        health: state.health,
        offerFaults,
        access: noClouds,
        credentialCounts: state.counts,
      },
      call,
      {
        underway: () => {},
      },
    );
    const made = call.outcome.attempts.map(({ provider, status, error }) => [provider, status, error]);
    const { credentialUse } = call.outcome;
    return {
      answer,
      limitedMs,
      credentialUse,
      attempts: made,
      place: answer?.target.offer.provider.id ?? null,
    };
  }

  function trip(place: string, nowMs: number): void {
    for (let at = 0; at < 5; at += 1) {
      const running = state.health.begin(aimedAt(`m@${place}`), nowMs, false);
      running?.failed(failure(), nowMs);
      running?.over();
    }
  }

  return { state, run, runPools, trip };
}

/** All that the client would get of an answer, and how it ends. */
export async function bodyOf(
  answer: Answer | null,
): Promise<readonly [text: string, end: 'end' | 'fail' | 'none']> {
  if (answer === null) return ['', 'none'];
  return new Promise((resolve) => {
    let text = '';
    answer.exchange.read({
      data: (chunk) => {
        text += chunk.toString();
      },
      end: () => resolve([text, 'end']),
      fail: () => resolve([text, 'fail']),
    });
  });
}

export const stream =
  (text: string): Manner =>
  (response) =>
    response.writeHead(200, sse).end(text);
export const open =
  (text: string): Manner =>
  (response) =>
    response.writeHead(200, sse).write(text);
/** Writes what it has to say and then breaks the connection. */
export const breaking =
  (text: string, headers: Readonly<Record<string, string>> = sse): Manner =>
  (response) =>
    response.writeHead(200, headers).write(text, () => response.socket?.destroy());
export const whole =
  (text: string, headers: Readonly<Record<string, string>> = {}): Manner =>
  (response) =>
    response.writeHead(200, { ...json, ...headers }).end(text);
export const status =
  (code: number): Manner =>
  (response) =>
    response.writeHead(code, json).end(`{"status":${code}}`);

export const data = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
const named = (payload: { readonly type: string } & Readonly<Record<string, unknown>>) =>
  `event: ${payload.type}\n${data(payload)}`;
export const error = { code: 'server_error', type: 'api_error', message: 'x' };
const delta = (fields: object, reason: string | null = null) =>
  data({ choices: [{ index: 0, delta: fields, finish_reason: reason }] });

export const streams = [
  {
    family: chat,
    ask: askChat({ model: 'm', stream: true }),
    silent: `: hello\n\n${delta({ role: 'assistant', content: '' })}`,
    word: delta({ content: 'a' }),
    end: `${delta({}, 'stop')}data: [DONE]\n\n`,
    bareEnd: 'data: [DONE]\n\n',
    reason: delta({}, 'content_filter'),
    fault: data({ error }),
  },
  {
    family: messages,
    ask: askMessages({ model: 'm', stream: true, max_tokens: 9, messages: [] }),
    silent:
      named({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 3, output_tokens: 1 } } }) +
      named({ type: 'ping' }) +
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    word: named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }),
    end:
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }) +
      named({ type: 'message_stop' }),
    bareEnd: named({ type: 'message_stop' }),
    reason:
      named({ type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: { output_tokens: 0 } }) +
      named({ type: 'message_stop' }),
    fault: named({ type: 'error', error }),
  },
  {
    family: responses,
    ask: askResponse({ model: 'm', stream: true }),
    silent:
      named({ type: 'response.created', response: { id: 'r', output: [] } }) +
      named({ type: 'response.in_progress', response: { id: 'r', output: [] } }) +
      named({ type: 'response.output_item.added', item: { type: 'message', id: 'i', content: [] } }),
    word: named({ type: 'response.output_text.delta', delta: 'a' }),
    end: named({ type: 'response.completed', response: { id: 'r', output: [] } }),
    bareEnd: null,
    reason: named({ type: 'response.incomplete', response: { id: 'r', output: [] } }),
    fault: named({ type: 'response.failed', response: { id: 'r', output: [], error } }),
  },
  {
    family: generateContent,
    ask: askContent({}, 'stream'),
    silent: data({ candidates: [{ index: 0, content: { parts: [{ text: '' }] } }] }),
    word: data({ candidates: [{ index: 0, content: { parts: [{ text: 'a' }] } }] }),
    end: data({ candidates: [{ index: 0, finishReason: 'STOP' }] }),
    bareEnd: null,
    reason: data({ promptFeedback: { blockReason: 'SAFETY' } }),
    fault: data({ error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }),
  },
] as const;

export const wholes = [
  { family: chat, ask: askChat({ model: 'm' }), good: { choices: [{ message: { content: 'a' } }] } },
  {
    family: messages,
    ask: askMessages({ model: 'm', max_tokens: 9, messages: [] }),
    good: { content: [{ type: 'text', text: 'a' }] },
  },
  { family: responses, ask: askResponse({ model: 'm' }), good: { id: 'r', output: [], error: null } },
  {
    family: generateContent,
    ask: askContent(),
    good: { candidates: [{ content: { parts: [{ text: 'a' }] } }] },
  },
] as const;
