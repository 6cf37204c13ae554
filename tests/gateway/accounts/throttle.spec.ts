import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#lib/platform/env/env';
import { openThrottle } from '#lib/platform/throttle/open-throttle';
import { SignInThrottle } from '#lib/platform/throttle/sign-in';
import { startRedis, startRest, type TestRedis } from '#tests/support/redis/server';

let redis: TestRedis;
let rest: Awaited<ReturnType<typeof startRest>>;
beforeAll(async () => {
  redis = await startRedis();
  rest = await startRest(redis.url, 'token');
});
afterAll(async () => {
  await rest.close();
  await redis.close();
});

const kinds: Record<string, () => Env['redis']> = {
  memory: () => null,
  'Redis by its own protocol': () => ({ kind: 'tcp', url: redis.url }),
  'Redis by REST': () => ({ kind: 'rest', url: rest.url, token: 'token' }),
};

/** The machine may be busy: here Redis is never late. */
const unhurriedMs = 60_000;

const limitOf = (most: number) => ({ id: randomUUID(), most, windowSeconds: 900 });

describe.each(Object.entries(kinds))('counts in %s (contract: control-plane/throttles)', (_, of) => {
  const errors: unknown[] = [];
  let opened: ReturnType<typeof openThrottle>;
  beforeAll(() => {
    opened = openThrottle({ redis: of() }, (error) => errors.push(error), unhurriedMs);
  });
  afterAll(() => {
    opened.close();
    expect(errors).toEqual([]);
  });

  it('let exactly as many pass as the limit says, however many try at once', async () => {
    const limit = limitOf(5);
    const waits = await Promise.all(Array.from({ length: 40 }, () => opened.throttle.claim([limit])));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5);
    for (const wait of waits.filter((one) => one > 0)) {
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(900);
    }
  });

  it('book under all limits or under none, give back, and forget', async () => {
    const { throttle } = opened;
    const [wide, tight] = [limitOf(3), limitOf(1)];
    expect(await throttle.claim([wide, tight])).toBe(0);
    for (let n = 0; n < 5; n++) expect(await throttle.claim([wide, tight])).toBeGreaterThan(0);
    expect(await throttle.claim([wide])).toBe(0);
    await throttle.giveBack(tight);
    expect(await throttle.claim([wide, tight])).toBe(0);
    expect(await throttle.claim([wide])).toBeGreaterThan(0);
    await throttle.forget(wide);
    for (let n = 0; n < 3; n++) expect(await throttle.claim([wide])).toBe(0);
    expect(await throttle.claim([wide])).toBeGreaterThan(0);
  });

  it('remember who has signed in from where: others do not lock them out', async () => {
    const signIns = new SignInThrottle(opened.throttle);
    const email = `${randomUUID()}@example.com`;
    expect(await signIns.claim(email, '10.0.0.1')).toBe(true);
    await signIns.clear(email, '10.0.0.1');
    for (let n = 0; n < 50; n++) await signIns.claim(email, `10.1.0.${n}`);
    expect(await signIns.claim(email, '10.2.0.1')).toBe(false);
    expect(await signIns.claim(email, '10.0.0.1')).toBe(true);
  });
});

it('counts are shared by all processes on one Redis', async () => {
  const ignore = () => undefined;
  const [one, two] = [kinds['Redis by its own protocol'], kinds['Redis by REST']].map((of) =>
    openThrottle({ redis: of?.() ?? null }, ignore, unhurriedMs),
  );
  const limit = limitOf(4);
  const waits = await Promise.all(
    Array.from({ length: 10 }, (_, n) => (n % 2 ? one : two)?.throttle.claim([limit])),
  );
  expect(waits.filter((wait) => wait === 0)).toHaveLength(4);
  one?.close();
  two?.close();
});

it('attempts are counted by the process itself while Redis hangs, so that guessing is never unlimited', async () => {
  if (!redis.freezes) return;
  const errors: unknown[] = [];
  const to = { redis: { kind: 'tcp', url: redis.url } } as const;
  const { throttle, close } = openThrottle(to, (one) => errors.push(one), 200);
  const limit = limitOf(2);
  redis.freeze();
  try {
    const waits: boolean[] = [];
    for (let n = 0; n < 4; n++) waits.push((await throttle.claim([limit])) === 0);
    expect(waits).toEqual([true, true, false, false]);
    expect(errors.length).toBeGreaterThan(0);
  } finally {
    redis.thaw();
    close();
  }
});

it('attempts are counted by the process itself while Redis is unavailable', async () => {
  const away = openThrottle({ redis: { kind: 'tcp', url: 'redis://127.0.0.1:1' } }, () => undefined);
  const limit = limitOf(2);
  const passed: boolean[] = [];
  for (let n = 0; n < 3; n++) passed.push((await away.throttle.claim([limit])) === 0);
  expect(passed).toEqual([true, true, false]);
  away.close();
});
