import { describe, expect, it } from 'vitest';
import type { CredentialFacts } from '#lib/core/facts/credential';
import { createHealth } from '#lib/gateway/routing/breaker';
import { type AttemptFailure, offerState } from '#lib/gateway/routing/health';
import { plan } from '#lib/gateway/routing/pure/plan';
import { makeCredential, makeProvider } from '#tests/unit/families/make';
import { catalogueOf, healthOf, inputOf, keeper, modelOf, nowMs, offerAt } from '#tests/unit/routing/make';

const inService = {
  failures: 0,
  openUntilMs: 0,
  tripped: false,
  probing: false,
  refused: false,
  lastError: null,
};
const aside = { ...inService, openUntilMs: nowMs + 60_000 };
const refused = { ...aside, refused: true };

/** Model m at provider a, with these credentials. */
function offerWith(credentials: readonly CredentialFacts[], withdrawn: readonly CredentialFacts[] = []) {
  const offer = offerAt('a');
  const provider = makeProvider({ ...offer.provider, credentials, withdrawn });
  return { ...offer, provider };
}

function poolIn(part: Parameters<typeof inputOf>[0], offer: ReturnType<typeof offerWith>) {
  const { targets } = plan(inputOf({ ...part, catalogue: catalogueOf(modelOf('m', [offer])) }));
  return targets.flatMap(({ pool }) => pool.map(({ name }) => name));
}

const named = (name: string, part: Partial<CredentialFacts> = {}) => makeCredential({ name, ...part });
const callAt = (count: number) => `019aa000-0000-7000-8000-${count.toString(16).padStart(12, '0')}`;

describe('the order of a pool (contract: routing/credential-order)', () => {
  it('gives each credential its share of the calls, within 2 percentage points', () => {
    const weights = [1, 2, 3, 4, 10];
    const offer = offerWith(weights.map((weight) => named(`w${weight}`, { weight })));
    const first = new Map<string | undefined, number>();
    const calls = 20_000;
    for (let count = 0; count < calls; count += 1) {
      const [name] = poolIn({ callId: callAt(count) }, offer);
      first.set(name, (first.get(name) ?? 0) + 1);
    }
    for (const weight of weights) {
      expect(Math.abs((first.get(`w${weight}`) ?? 0) / calls - weight / 20)).toBeLessThan(0.02);
    }
  });

  it('gives those that are left the shares of one that is set aside', () => {
    const offer = offerWith([
      named('x', { weight: 8 }),
      named('y', { weight: 1 }),
      named('z', { weight: 3 }),
    ]);
    const health = { 'm@a': healthOf({ credentials: { x: aside } }) };
    let first = 0;
    const calls = 10_000;
    for (let count = 0; count < calls; count += 1) {
      const pool = poolIn({ callId: callAt(count), health }, offer);
      expect(pool[2]).toBe('x');
      if (pool[0] === 'z') first += 1;
    }
    expect(Math.abs(first / calls - 0.75)).toBeLessThan(0.02);
  });

  it('is the same for the same call', () => {
    const offer = offerWith(['x', 'y', 'z'].map((name) => named(name)));
    expect(poolIn({ callId: callAt(7) }, offer)).toEqual(poolIn({ callId: callAt(7) }, offer));
  });

  it('is by priority; the holder of the prompt cache first; set aside behind, refused last', () => {
    const offer = offerWith([
      named('spare', { priority: 2 }),
      named('main', { weight: 1000 }),
      named('limited'),
      named('wrong'),
    ]);
    const health = { 'm@a': healthOf({ credentials: { limited: aside, wrong: refused, main: inService } }) };
    expect(poolIn({ health }, offer)).toEqual(['main', 'spare', 'limited', 'wrong']);
    expect(poolIn({ health, holder: keeper('a', 'spare') }, offer)[0]).toBe('spare');
    expect(poolIn({ health, holder: keeper('a', 'limited') }, offer)[0]).toBe('main');
    expect(poolIn({ health, holder: keeper('b', 'spare') }, offer)[0]).toBe('main');
  });

  it('keeps a credential however it stands, and one that is due for its probe in its place', () => {
    const one = offerWith([named('only')]);
    expect(poolIn({ health: { 'm@a': healthOf({ credentials: { only: refused } }) } }, one)).toEqual([
      'only',
    ]);
    const due = { ...refused, openUntilMs: nowMs, tripped: true };
    const two = offerWith([named('first'), named('second', { priority: 2 })]);
    const health = { 'm@a': healthOf({ credentials: { first: due } }) };
    expect(poolIn({ health }, two)).toEqual(['first', 'second']);
  });
});

describe('who is in the pool of a call (contract: routing/pool, jobs/pinning)', () => {
  it('credentials that may serve the model, and none that is withdrawn', () => {
    const offer = offerWith(
      [named('x', { models: new Set(['other']) }), named('y', { models: new Set(['m']) })],
      [named('z')],
    );
    expect(poolIn({}, offer)).toEqual(['y']);
    const none = offerWith([named('x', { models: new Set(['other']) })]);
    const { failure } = plan(inputOf({ catalogue: catalogueOf(modelOf('m', [none])) }));
    expect(failure?.message).toContain('has no credential that may serve this model');
  });

  it('for what a credential made that one alone, withdrawn or not; all others once it is removed', () => {
    const offer = offerWith([named('x'), named('y', { models: new Set(['other']) })], [named('z')]);
    for (const name of ['x', 'y', 'z']) expect(poolIn({ pinned: keeper('a', name) }, offer)).toEqual([name]);
    expect(poolIn({ pinned: keeper('a', 'gone') }, offer)).toEqual(['x', 'y']);
    expect(poolIn({ pinned: keeper('a', 'z') }, offerWith([], [named('z')]))).toEqual(['z']);
  });
});

describe('the breaker of a credential (contract: routing/breaker, routing/refused-credential)', () => {
  const no: AttemptFailure = { status: 401, what: 'credential', credential: 'refused', retryAfterMs: null };
  const limited: AttemptFailure = {
    status: 429,
    what: 'rate_limit',
    credential: 'limited',
    retryAfterMs: null,
  };

  function track(...names: string[]) {
    const offer = offerWith(names.map((name) => named(name)));
    const health = createHealth();
    const aim = (name: string) => ({ offer, credential: named(name) });
    const isAside = (name: string, atMs: number) => health.isAside(aim(name), atMs);
    const begin = (name: string, atMs: number) => {
      const running = health.begin(aim(name), atMs, false);
      if (!running) throw new Error('the retry budget is used up');
      return running;
    };
    const fail = (name: string, failure: AttemptFailure, atMs: number) =>
      begin(name, atMs).failed(failure, atMs);
    return { health, isAside, begin, fail };
  }

  it('trips at the first refusal; the probe after 10 s is one call, and each that fails doubles the time to 5 min', () => {
    const { health, isAside, begin, fail } = track('x', 'y');
    let atMs = nowMs;
    for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
      fail('x', no, atMs);
      expect([isAside('x', atMs + seconds * 1000 - 1), isAside('y', atMs)]).toEqual([true, false]);
      atMs += seconds * 1000;
      expect(isAside('x', atMs)).toBe(false);
    }
    const probe = begin('x', atMs);
    expect(isAside('x', atMs)).toBe(true);
    expect(health.of('m@a').credentials.x).toMatchObject({ refused: true, lastError: { status: 401 } });
    probe.succeeded(1, false, atMs);
    expect(health.of('m@a').credentials.x).toMatchObject({ refused: false, openUntilMs: 0 });
  });

  it('sets one aside for its Retry-After, and for 10 s without one if another can serve', () => {
    const two = track('x', 'y');
    two.fail('x', { ...limited, retryAfterMs: 3_000 }, nowMs);
    expect([two.isAside('x', nowMs + 2_999), two.isAside('x', nowMs + 3_000)]).toEqual([true, false]);
    two.fail('y', limited, nowMs);
    expect([two.isAside('y', nowMs + 9_999), two.isAside('y', nowMs + 10_000)]).toEqual([true, false]);
    const one = track('x');
    one.fail('x', limited, nowMs);
    expect(one.isAside('x', nowMs)).toBe(false);
  });

  it('sets one aside that hangs, at once if another can serve', () => {
    const hang: AttemptFailure = {
      status: null,
      what: 'first_byte_timeout',
      credential: null,
      retryAfterMs: null,
    };
    const [two, one] = [track('x', 'y'), track('x')];
    for (const { fail } of [one, two]) fail('x', hang, nowMs);
    expect([two.isAside('x', nowMs + 9_999), one.isAside('x', nowMs)]).toEqual([true, false]);
  });

  it('an offer is set aside only while all its credentials are', () => {
    const { health, fail } = track('x', 'y');
    fail('x', no, nowMs);
    expect(offerState(health.of('m@a'), nowMs)).toBe('in service');
    fail('y', { ...limited, retryAfterMs: 4_000 }, nowMs);
    expect(offerState(health.of('m@a'), nowMs)).toBe('set aside');
    expect(health.of('m@a').openUntilMs).toBe(nowMs + 4_000);
    expect(JSON.stringify(health.list())).not.toContain('"secret"');
  });
});
