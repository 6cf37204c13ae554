import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import type { Operation } from '#lib/core/families/family';
import { noClouds } from '#lib/gateway/clouds/access';
import { tryTargets } from '#lib/gateway/flow/attempt/try-targets';
import { CredentialCounts } from '#lib/gateway/limits/credential-limits';
import { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import { createHealth } from '#lib/gateway/routing/breaker';
import type { Health } from '#lib/gateway/routing/health';
import type { Target } from '#lib/gateway/routing/pure/target';
import type { Exchange } from '#lib/gateway/upstream/exchange';
import { createPools } from '#lib/gateway/upstream/pools';
import { systemClock } from '#lib/platform/clock';
import { calledBy } from '#tests/unit/families/make';
import { plannedCall } from '#tests/unit/gateway/make-call';
import { aimedAt, askOf, failure, modelOf, offerAt } from '#tests/unit/routing/make';

/** What a provider that does answer has for it where another one never does, ms. */
const patientMs = 1_500;
const pools = createPools();
const offerFaults = new OfferFaults(() => {});
const credentialCounts = new CredentialCounts(systemClock, null);
/** A whole answer that says something. */
const said = '{"choices":[{"message":{"content":"a"}}]}';
let server: Server;
let origin = '';
/** Paths in the order of arrival. */
let arrived: string[] = [];
let tests = 0;
let health: Health;

beforeAll(async () => {
  // The status stands in the path: "/7/first/500" in the seventh test; "/7/first/silent" never answers.
  server = createServer((request, response) => {
    const [, test = '', place = '', how = ''] = (request.url ?? '').split('/');
    // What an earlier test sent and gave up may arrive late.
    if (test === `${tests}`) arrived.push(place);
    if (how === 'silent') return;
    response.writeHead(Number(how), { 'x-request-id': place, 'retry-after': '60' });
    response.end(place === 'json' ? said : place);
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
  tests += 1;
  arrived = [];
  health = createHealth();
});

function targetAt(place: string, how: number | 'silent'): Target {
  const offer = offerAt(place);
  if (!offer.price) throw new Error('the offer has a price');
  return {
    model: modelOf('m', [offer]),
    offer,
    family: 'chat',
    address: new URL(`${origin}/${tests}/${place}/${how}`),
    ...calledBy(),
    price: offer.price,
    injectBudget: null,
  };
}

/** How the client and the operation of a run differ from the usual. */
interface Parts {
  /** How long each provider is waited for, ms: a minute unless given. */
  readonly firstByteMs?: number;
  /** A stored operation's answer may be anything. */
  readonly generates?: boolean;
  /** The client leaves after this many attempts. */
  readonly leavesAfter?: number;
  readonly underway?: (exchange: Exchange) => void;
}

async function run(targets: readonly Target[], parts: Parts = {}) {
  const { generates = false, leavesAfter = Number.POSITIVE_INFINITY, underway = () => {} } = parts;
  const ask = askOf();
  const operation: Operation = { ...ask.operation, steps: generates ? 'generate' : 'count' };
  const call = plannedCall(chat, { ...ask, operation }, targets, parts.firstByteMs);
  let begun = 0;
  const client = {
    underway: (exchange: Exchange) => {
      begun += 1;
      if (begun >= leavesAfter) call.outcome.gone = true;
      underway(exchange);
    },
  };
  const { answer } = await tryTargets(
    { clock: systemClock, pools, health, offerFaults, access: noClouds, credentialCounts },
    call,
    client,
  );
  const body = answer ? Buffer.from(await answer.exchange.peek()).toString() : null;
  return { body, answer, records: call.outcome.attempts };
}

function trip(place: string, nowMs = Date.now()): void {
  for (let at = 0; at < 5; at += 1) {
    const running = health.begin(aimedAt(`m@${place}`), nowMs, false);
    running?.failed(failure(), nowMs);
    running?.over();
  }
}

describe('trying targets in order (contract: routing/next-target, routing/chain-used-up)', () => {
  it('attempts end at the first answer that the client should get', async () => {
    const { body, records } = await run([targetAt('a', 500), targetAt('b', 404), targetAt('c', 200)]);
    expect(body).toBe('b');
    expect(arrived).toEqual(['a', 'b']);
    expect(records.map((one) => [one.provider, one.status, one.upstreamRequestId])).toEqual([
      ['a', 500, 'a'],
      ['b', 404, 'b'],
    ]);
  });

  it('the last HTTP answer is given, even if a later attempt had none', async () => {
    const targets = [targetAt('a', 500), targetAt('b', 503), targetAt('c', 'silent')];
    const { body, records, answer } = await run(targets, { firstByteMs: patientMs });
    expect(body).toBe('b');
    expect(records.map((one) => one.error)).toEqual([null, null, 'first_byte_timeout']);
    expect(records.map((one) => one.possibleDuplicate)).toEqual([false, false, true]);
    // Without the time that the later one was waited for.
    expect(answer?.failedMs).toBeLessThan((records[2]?.startMs ?? 0) + 1);
  });

  it('a 2xx that is neither JSON nor an event stream is a failed attempt of a generating call', async () => {
    const generates = { generates: true };
    const { body, records } = await run([targetAt('html', 200), targetAt('json', 200)], generates);
    expect(body).toBe(said);
    expect(records.map((one) => [one.status, one.error])).toEqual([
      [null, 'unreadable_answer'],
      [200, null],
    ]);
    expect(health.of('m@html')).toMatchObject({ failures: 1, running: 0 });
    expect(
      (await run([targetAt('html', 500), targetAt('html', 200)], generates)).answer?.exchange.status,
    ).toBe(500);
    expect((await run([targetAt('html', 200)], generates)).answer).toBeNull();
    expect((await run([targetAt('html', 200)])).body).toBe('html');
  });

  it('the time of failed attempts is counted separately from that of the answering one', async () => {
    const targets = [targetAt('a', 'silent'), targetAt('b', 200)];
    const { answer } = await run(targets, { firstByteMs: patientMs });
    expect(answer?.failedMs).toBeGreaterThan(patientMs / 2);
  });

  it('offers are timed only by answers, not by how fast they refuse a bad request', async () => {
    trip('a', 0);
    const refused = await run([targetAt('a', 404)]);
    expect(refused.answer?.running).toBeNull();
    expect(health.of('m@a')).toMatchObject({ failures: 0, tripped: false, wholeMs: { value: null } });
  });

  it('the health of an offer is updated only at the end of its answer (contract: routing/health-at-the-end)', async () => {
    trip('json', 0);
    const { answer } = await run([targetAt('json', 200)], { generates: true });
    expect(health.of('m@json')).toMatchObject({ failures: 5, tripped: true, wholeMs: { value: null } });
    answer?.running?.succeeded(7, false, Date.now());
    expect(health.of('m@json')).toMatchObject({ failures: 0, tripped: false, wholeMs: { value: 7 } });
  });

  it('there is no answer when no attempt had one', async () => {
    expect((await run([targetAt('a', 'silent')], { firstByteMs: 20 })).answer).toBeNull();
  });

  it('no further target is tried once the client has left', async () => {
    const { body } = await run([targetAt('a', 500), targetAt('b', 200)], { leavesAfter: 1 });
    expect(body).toBe('a');
    expect(arrived).toEqual(['a']);
  });

  it('nothing is learned about an offer if the client left first', async () => {
    const error = Object.assign(new Error('left'), { code: 'CLIENT_GONE' });
    const underway = (exchange: Exchange) => void setTimeout(() => exchange.abort(error), 20);
    const { answer, records } = await run([targetAt('a', 'silent'), targetAt('b', 200)], { underway });
    expect(answer).toBeNull();
    expect(records.map((one) => one.error)).toEqual(['client_gone']);
    expect(health.of('m@a')).toMatchObject({ failures: 0, running: 0 });
  });
});

describe('the breaker between plan and attempt', () => {
  it('a target that was set aside in the meantime is tried after those in service, and only once', async () => {
    trip('a');
    trip('b');
    const targets = [targetAt('a', 500), targetAt('b', 500), targetAt('c', 500), targetAt('d', 500)];
    await run(targets);
    expect(arrived).toEqual(['c', 'd', 'a', 'b']);
  });

  it('only one of many calls planned at once gets the probe', async () => {
    trip('a', Date.now() - 10_000);
    const calls = Array.from({ length: 20 }, () => run([targetAt('a', 503), targetAt('b', 200)]));
    const bodies = (await Promise.all(calls)).map((one) => one.body);
    expect(bodies).toEqual(Array(20).fill('b'));
    expect(arrived.filter((place) => place === 'a')).toHaveLength(1);
  });

  it('only the Retry-After of a 429 is respected', async () => {
    const beforeMs = Date.now();
    await run([targetAt('a', 503), targetAt('b', 429)]);
    expect(health.isAside(aimedAt('m@a'), Date.now())).toBe(false);
    expect(health.isAside(aimedAt('m@b'), beforeMs + 59_000)).toBe(true);
  });
});

describe('the retry budget (contract: routing/further-fallbacks)', () => {
  it('the retry budget never stops a first fallback, and leaves further ones out when it is used up', async () => {
    for (let at = 0; at < 10; at += 1) {
      health.begin(aimedAt('m@b'), Date.now(), true);
      health.begin(aimedAt('m@c'), Date.now(), true);
    }
    const { body, records } = await run([targetAt('a', 500), targetAt('b', 503), targetAt('c', 200)]);
    expect(body).toBe('b');
    expect(records).toHaveLength(2);
    expect((await run([targetAt('a', 500), targetAt('b', 503), targetAt('d', 200)])).body).toBe('d');
  });

  it('the retry budget counts an attempt until its whole answer is over', async () => {
    const { answer } = await run([targetAt('a', 200)]);
    expect(answer?.exchange.status).toBe(200);
    expect(health.of('m@a').running).toBe(0);
    const silent = run([targetAt('b', 'silent')], { firstByteMs: 20 });
    expect(health.of('m@b').running).toBe(1);
    await silent;
    expect(health.of('m@b').running).toBe(0);
  });
});
