import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import { createKeyReader } from '#lib/gateway/snapshot/read';
import { hashKey, makeKey } from '#lib/platform/secrets';

const noLimits = { rpm: null, tpm: null, concurrency: null };

function snapshot(keyId: string, change: Partial<KeySnapshot['key']> = {}): KeySnapshot {
  return {
    key: {
      id: keyId,
      name: keyId,
      status: 'active',
      quotaExhausted: false,
      models: null,
      maxOutputTokens: null,
      caps: { dayNano: null, d7Nano: null, d30Nano: null, quotaNano: null },
      limits: noLimits,
      expiresAtMs: null,
      ownerRemoved: false,
      sessionEnded: false,
      ...change,
    },
    workspace: { id: 'w', slug: 'w', timeZone: 'UTC', strict: false, suspended: false, limits: noLimits },
    policies: new Map(),
    content: null,
    secretUntilMs: null,
  };
}

/** A loader whose answers the test gives, one by one, in the order of the look-ups. */
function controlled(
  options: { trustMs?: number; most?: number; isKnown?: (hash: Uint8Array) => boolean } = {},
) {
  const waiting: { resolve(found: KeySnapshot | null): void; reject(error: Error): void }[] = [];
  let loads = 0;
  const reader = createKeyReader({
    clock: { now: () => Date.now(), mono: () => performance.now() },
    hash: (secret) => hashKey(secret, 'pepper'),
    load: () => {
      loads++;
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    ...options,
  });
  const next = () => {
    const load = waiting.shift();
    if (load === undefined) throw new Error('no look-up is waiting');
    return load;
  };
  /** Answers the only look-up of a read. */
  async function learn(secret: string, found: KeySnapshot | null) {
    const reading = reader.read(secret);
    next().resolve(found);
    return reading;
  }
  return { reader, next, learn, waiting, loads: () => loads };
}

function codeOf(answer: KeySnapshot | Refusal | Promise<KeySnapshot | Refusal>): string {
  if (answer instanceof Promise) return 'a promise';
  return isRefusal(answer) ? answer.code : `key ${answer.key.id}`;
}

async function codeAfter(answer: KeySnapshot | Refusal | Promise<KeySnapshot | Refusal>): Promise<string> {
  return codeOf(await answer);
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('reading a key (contract: authentication/resolving)', () => {
  it('asks the database once for all that wait, then answers from memory without a promise', async () => {
    const { reader, next, loads } = controlled();
    const secret = makeKey();
    const readings = [reader.read(secret), reader.read(secret), reader.read(secret)];
    next().resolve(snapshot('k'));
    expect(await Promise.all(readings.map(codeAfter))).toEqual(['key k', 'key k', 'key k']);
    expect(codeOf(reader.read(secret))).toBe('key k');
    expect(loads()).toBe(1);
  });

  it('refuses a malformed key without a look-up', () => {
    const { reader, loads } = controlled();
    expect(codeOf(reader.read('sk-other'))).toBe('invalid_api_key');
    expect(loads()).toBe(0);
  });

  it('remembers an unknown key for 5 s', async () => {
    const { reader, learn, next } = controlled();
    const secret = makeKey();
    expect(codeOf(await learn(secret, null))).toBe('invalid_api_key');
    vi.advanceTimersByTime(4_999);
    expect(codeOf(reader.read(secret))).toBe('invalid_api_key');
    vi.advanceTimersByTime(1);
    const again = reader.read(secret);
    next().resolve(snapshot('k'));
    expect(await codeAfter(again)).toBe('key k');
  });

  it('looks an unknown key up again as soon as a key is created', async () => {
    const { reader, learn, waiting } = controlled();
    const secret = makeKey();
    await learn(secret, null);
    reader.forget({ key: 'new' });
    expect(codeOf(reader.read(secret))).toBe('a promise');
    expect(waiting).toHaveLength(1);
  });

  it('refuses a revoked key from memory', async () => {
    const { reader, learn } = controlled();
    const secret = makeKey();
    await learn(secret, snapshot('k', { status: 'revoked' }));
    expect(codeOf(reader.read(secret))).toBe('invalid_api_key');
  });

  it('stops a rotated-out secret at the millisecond its overlap ends', async () => {
    const { reader, learn } = controlled();
    const secret = makeKey();
    await learn(secret, { ...snapshot('k'), secretUntilMs: Date.now() + 10_000 });
    vi.advanceTimersByTime(9_999);
    expect(codeOf(reader.read(secret))).toBe('key k');
    vi.advanceTimersByTime(1);
    expect(codeOf(reader.read(secret))).toBe('invalid_api_key');
  });

  it('keeps at most the given number of keys, those in use longest', async () => {
    const { reader, learn } = controlled({ most: 3 });
    const secrets = [makeKey(), makeKey(), makeKey(), makeKey(), makeKey()];
    for (const [i, secret] of secrets.entries()) {
      await learn(secret, snapshot(`k${i}`));
      reader.read(secrets[0] ?? '');
    }
    const kept = secrets.filter((secret) => codeOf(reader.read(secret)) !== 'a promise');
    expect(kept).toHaveLength(3);
    expect(kept).toContain(secrets[0]);
  });
});

describe('a change', () => {
  it.each<[string, Parameters<ReturnType<typeof controlled>['reader']['forget']>[0]]>([
    ['of the key', { key: 'k' }],
    ['of its workspace', { workspace: 'w' }],
    ['that was missed', 'all'],
  ])('%s drops it from memory', async (_name, what) => {
    const { reader, learn } = controlled();
    const secret = makeKey();
    await learn(secret, snapshot('k'));
    reader.forget({ key: 'other' });
    reader.forget({ workspace: 'other' });
    expect(codeOf(reader.read(secret))).toBe('key k');
    reader.forget(what);
    expect(codeOf(reader.read(secret))).toBe('a promise');
  });

  it.each<[string, Parameters<ReturnType<typeof controlled>['reader']['forget']>[0]]>([
    ['of the key', { key: 'k' }],
    ['of its workspace', { workspace: 'w' }],
    ['that was missed', 'all'],
  ])('%s while its look-up runs makes it look again', async (_name, what) => {
    const { reader, next } = controlled();
    const secret = makeKey();
    const reading = reader.read(secret);
    const stale = next();
    reader.forget(what);
    stale.resolve(snapshot('k'));
    await vi.waitFor(() => next().resolve(snapshot('k', { status: 'inactive' })));
    expect(await reading).toMatchObject({ key: { status: 'inactive' } });
    expect(reader.read(secret)).toMatchObject({ key: { status: 'inactive' } });
  });

  it('that makes a key while its look-up runs is not lost in "unknown"', async () => {
    const { reader, next } = controlled();
    const reading = reader.read(makeKey());
    const stale = next();
    reader.forget({ key: 'k' });
    stale.resolve(null);
    await vi.waitFor(() => next().resolve(snapshot('k')));
    expect(await codeAfter(reading)).toBe('key k');
  });

  it('of another key while a look-up runs costs nothing', async () => {
    const { reader, next, loads } = controlled();
    const secret = makeKey();
    const reading = reader.read(secret);
    reader.forget({ key: 'other' });
    next().resolve(snapshot('k'));
    await reading;
    expect(codeOf(reader.read(secret))).toBe('key k');
    expect(loads()).toBe(1);
  });

  it('that comes faster than every look-up leaves nothing stale in memory', async () => {
    const { reader, next, waiting } = controlled();
    const secret = makeKey();
    const reading = reader.read(secret);
    for (let round = 0; round < 3; round++) {
      await vi.waitFor(() => expect(waiting).toHaveLength(1));
      reader.forget({ key: 'k' });
      next().resolve(snapshot('k'));
    }
    expect(await codeAfter(reading)).toBe('key k');
    expect(codeOf(reader.read(secret))).toBe('a promise');
  });
});

describe('a database that does not answer (contract: authentication/database-away, authentication/cool-down)', () => {
  it('gives 502, then 429 until the cool-down ends, which doubles to 30 s', async () => {
    const { reader, next } = controlled();
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      const reading = reader.read(makeKey());
      next().reject(new Error('away'));
      expect(await codeAfter(reading)).toBe('auth_resolve_failed');
      expect(reader.read(makeKey())).toMatchObject({ code: 'hydrate_cooldown', retryAfterSeconds: seconds });
      vi.advanceTimersByTime(seconds * 1000 - 1);
      expect(reader.read(makeKey())).toMatchObject({ code: 'hydrate_cooldown', retryAfterSeconds: 1 });
      vi.advanceTimersByTime(1);
    }
  });

  it('is one failure however many look-ups it takes down', async () => {
    const { reader, next } = controlled();
    const readings = Array.from({ length: 5 }, () => reader.read(makeKey()));
    for (const _ of readings) next().reject(new Error('away'));
    await Promise.all(readings);
    expect(reader.read(makeKey())).toMatchObject({ retryAfterSeconds: 1 });
  });

  it('counts as failed after 2 s', async () => {
    const { reader } = controlled();
    const reading = reader.read(makeKey());
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await codeAfter(reading)).toBe('auth_resolve_failed');
  });

  it('starts at a cool-down of 1 s again once it has answered', async () => {
    const { reader, next, learn } = controlled();
    for (const seconds of [1, 2]) {
      const reading = reader.read(makeKey());
      next().reject(new Error('away'));
      await reading;
      vi.advanceTimersByTime(seconds * 1000);
    }
    await learn(makeKey(), null);
    const reading = reader.read(makeKey());
    next().reject(new Error('away'));
    await reading;
    expect(reader.read(makeKey())).toMatchObject({ retryAfterSeconds: 1 });
  });

  it('keeps serving what is in memory for 15 minutes after the database last answered', async () => {
    const { reader, next, learn } = controlled();
    const secret = makeKey();
    await learn(secret, snapshot('k'));
    vi.advanceTimersByTime(10 * 60_000);
    reader.confirm(performance.now());
    vi.advanceTimersByTime(15 * 60_000);
    expect(codeOf(reader.read(secret))).toBe('key k');
    vi.advanceTimersByTime(1);
    const reading = reader.read(secret);
    next().reject(new Error('away'));
    expect(await codeAfter(reading)).toBe('auth_resolve_failed');
  });

  it('serves memory that is to be checked again, during the failure and the cool-down', async () => {
    const { reader, next, learn } = controlled({ trustMs: 2_000 });
    const secret = makeKey();
    await learn(secret, snapshot('k'));
    vi.advanceTimersByTime(2_001);
    const reading = reader.read(secret);
    next().reject(new Error('away'));
    expect(await codeAfter(reading)).toBe('key k');
    expect(codeOf(reader.read(secret))).toBe('key k');
    expect(codeOf(reader.read(makeKey()))).toBe('hydrate_cooldown');
  });

  it('is not blamed for a key that was not found', async () => {
    const { reader, learn } = controlled();
    await learn(makeKey(), null);
    expect(codeOf(reader.read(makeKey()))).toBe('a promise');
  });
});

describe('look-ups of keys that are not in memory (contract: authentication/look-up-limits)', () => {
  it('are at most 50 at once', async () => {
    const { reader, next } = controlled();
    const readings = Array.from({ length: 50 }, () => reader.read(makeKey()));
    expect(reader.read(makeKey())).toMatchObject({ code: 'hydrate_cooldown', retryAfterSeconds: 1 });
    next().resolve(null);
    await readings[0];
    expect(codeOf(reader.read(makeKey()))).toBe('a promise');
  });

  it('leave room for existing keys in a flood of forged ones', async () => {
    const existing = Array.from({ length: 51 }, () => makeKey());
    const hashes = new Set(existing.map((key) => hashKey(key, 'pepper').toString('hex')));
    const isKnown = (hash: Uint8Array) => hashes.has(Buffer.from(hash).toString('hex'));
    const atOnce = controlled({ isKnown });
    const flood = () => codeOf(atOnce.reader.read(makeKey()));
    expect(Array.from({ length: 100 }, flood).filter((code) => code === 'a promise')).toHaveLength(37);
    const cold = existing.slice(0, 13).map((key) => codeOf(atOnce.reader.read(key)));
    expect(new Set(cold)).toEqual(new Set(['a promise']));
    atOnce.next().resolve(null);
    await vi.advanceTimersByTimeAsync(0);
    expect(flood()).toBe('a promise');

    const inASecond = controlled({ isKnown });
    for (let n = 0; n < 150; n++) await inASecond.learn(makeKey(), null);
    expect(inASecond.reader.read(makeKey())).toMatchObject({
      code: 'hydrate_cooldown',
      retryAfterSeconds: 1,
    });
    for (const key of existing.slice(0, 50)) await inASecond.learn(key, snapshot('k'));
    expect(codeOf(inASecond.reader.read(existing[50] ?? ''))).toBe('hydrate_cooldown');
    vi.advanceTimersByTime(1_000);
    expect(codeOf(inASecond.reader.read(makeKey()))).toBe('a promise');
  });

  it('are at most 200 a second, and memory stays in service beyond', async () => {
    const { reader, learn } = controlled();
    const known = makeKey();
    await learn(known, snapshot('k'));
    for (let i = 1; i < 200; i++) await learn(makeKey(), null);
    expect(reader.read(makeKey())).toMatchObject({ code: 'hydrate_cooldown', retryAfterSeconds: 1 });
    expect(codeOf(reader.read(known))).toBe('key k');
    vi.advanceTimersByTime(1_000);
    expect(codeOf(reader.read(makeKey()))).toBe('a promise');
  });
});
