import { describe, expect, it } from 'vitest';
import { type Manner, playProviders, status, whole } from '#tests/unit/routing/play-providers';

const { state, runPools } = playProviders();
const good = whole(JSON.stringify({ choices: [{ message: { content: 'a' }, finish_reason: 'stop' }] }));
const hangs: Manner = () => {};
/** Long enough for an answer on a busy machine. */
const quick = { firstByteMs: 2_000 };
/** Ten credentials: three are limited, one is refused, one hangs. */
const ten = {
  l1: status(429),
  l2: status(429),
  l3: status(429),
  wrong: status(401),
  silent: hangs,
  ...Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`good${number}`, good])),
};

describe('the next credential (contract: routing/next-credential)', () => {
  it('is tried within the same call, past any number that are limited or refused, and one that hangs', async () => {
    const { place, answer } = await runPools({ a: ten }, 2, quick);
    expect(state.arrived).toEqual(['l1', 'l2', 'l3', 'wrong', 'silent', 'good1']);
    expect([place, answer?.target.credential.name]).toEqual(['a', 'good1']);
  });

  it('from the second call on, none of them is tried before one that can serve', async () => {
    await runPools({ a: ten }, 2, quick);
    state.arrived.length = 0;
    for (let call = 0; call < 3; call += 1) await runPools({ a: ten }, 1);
    expect(state.arrived).toEqual(['good1', 'good1', 'good1']);
  });

  it.each([402, 403])('is tried after %i, even if only one attempt may be made', async (code) => {
    const { attempts } = await runPools({ a: { x: status(code), y: good } }, 1);
    expect(attempts).toEqual([
      ['a', code, null],
      ['a', 200, null],
    ]);
  });

  it('is tried before the next provider, and the last answer is given if none of the pool can serve', async () => {
    expect((await runPools({ a: { x: status(401), y: status(429) }, b: { z: good } })).place).toBe('b');
    expect(state.arrived).toEqual(['x', 'y', 'z']);
    const { answer } = await runPools({ c: { v: status(429), w: status(401) } });
    expect(answer?.exchange.status).toBe(401);
  });

  it('costs an attempt after a 5xx: one more credential, and then the next provider', async () => {
    const failing = { x: status(500), y: status(500), z: status(500) };
    const { place } = await runPools({ a: failing, b: { good } });
    expect([place, state.arrived]).toEqual(['b', ['x', 'y', 'good']]);
  });

  it('leaves the last attempt to the next provider', async () => {
    const { place } = await runPools({ a: { x: status(500), y: good }, b: { good } }, 2);
    expect([place, state.arrived]).toEqual(['b', ['x', 'good']]);
  });

  it('is tried up to the number of attempts if there is no other provider', async () => {
    await runPools({ a: { w: status(500), x: status(500), y: status(500), z: status(500) } }, 3);
    expect(state.arrived).toEqual(['w', 'x', 'y']);
  });

  it('waits for the next provider if it is set aside', async () => {
    await runPools({ a: { x: status(401), y: status(401) } });
    state.arrived.length = 0;
    const { place } = await runPools({ a: { x: status(401), y: status(401), w: status(429) }, b: { good } });
    expect([place, state.arrived]).toEqual(['b', ['w', 'good']]);
  });
});

describe('a credential with limits of its own (contract: limits/credentials)', () => {
  it('gets no call beyond them: the next credential serves, then the next provider', async () => {
    state.limits = { x: { rpm: 1 }, y: { rpm: 2 } };
    const both = { a: { x: good, y: good }, b: { z: good } };
    for (let call = 0; call < 4; call += 1) await runPools(both, 1);
    expect(state.arrived).toEqual(['x', 'y', 'y', 'z']);
  });

  it('is set aside until it may be used again, as one that answered 429', async () => {
    state.limits = { x: { rpm: 1 } };
    const pool = { a: { x: good } };
    await runPools(pool);
    const { limitedMs, attempts } = await runPools(pool);
    expect([attempts, state.arrived]).toEqual([[], ['x']]);
    expect(limitedMs).toBeGreaterThan(50_000);
    const { openUntilMs, failures } = state.health.of('m@a').credentials.x ?? {};
    expect(openUntilMs).toBeGreaterThan(Date.now() + 50_000);
    expect(failures).toBe(0);
  });

  it('counts no tokens of an attempt that failed, whoever answers then', async () => {
    state.limits = { x: { tpm: 100 } };
    const taken = async () => state.counts.take({ id: 'x', providerId: 'p', stored: tpm }, 100);
    const tpm = { rpm: null, tpm: 100, concurrency: null } as const;
    const { credentialUse } = await runPools({ a: { x: status(500) }, b: { z: good } });
    expect(credentialUse).toBeNull();
    expect(await taken()).not.toHaveProperty('waitMs');
  });

  it('counts an attempt that failed as a request', async () => {
    state.limits = { x: { rpm: 2 } };
    const failing = { a: { x: status(500) }, b: { z: good } };
    for (let call = 0; call < 3; call += 1) await runPools(failing);
    expect(state.arrived).toEqual(['x', 'z', 'x', 'z', 'z']);
  });
});
