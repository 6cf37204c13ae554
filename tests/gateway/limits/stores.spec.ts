import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  LimitStore,
  PermitRequest,
  RequestedSubject,
  WindowEntry,
} from '#lib/gateway/limits/pure/permit-request';
import { freeSlots, processName } from '#lib/gateway/limits/shared-limits';
import { snapshotOf } from '#tests/support/admission';
import { cases, limitsOf, random, runCase } from '#tests/support/limits/matrix';
import { MemoryStore } from '#tests/support/limits/memory-store';
import { type Stores, startStores, storeKinds } from '#tests/support/limits/stores';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(async () => {
  await stores.close();
  expect(stores.errors).toEqual([]);
});

const nothing = { requests: 0, tokens: 0, slots: 0 };

function subjectOf(id: string, parts: Partial<RequestedSubject> = {}): RequestedSubject {
  return { id, limits: limitsOf({}), slots: 0, lowered: [], used: [], want: nothing, ...parts };
}

/** A permit request about a key and its workspace, for `calls` calls of 10 tokens each. */
function askOf(
  turn: number,
  parts: Partial<PermitRequest> & { limits?: RequestedSubject['limits']; count?: number } = {},
): PermitRequest {
  const { limits = limitsOf({}), count = 1, ...rest } = parts;
  return {
    workspaceId: workspace,
    process: 'one',
    turn,
    epoch: null,
    processes: 1,
    subjects: [subjectOf(key, { limits }), subjectOf(workspace)],
    calls: Array.from({ length: count }, () => ({
      subjects: [0, 1] as const,
      requests: 1 as const,
      tokens: 10,
      slot: true,
    })),
    ...rest,
  };
}

let key = randomUUID();
let workspace = randomUUID();

/** Asks as a fleet might send them: of three processes about a workspace and two keys, seconds apart. */
function schedule(seed: number): { passMs: number; ask: (epoch: string | null) => PermitRequest }[] {
  const next = random(seed);
  const pick = (most: number) => Math.floor(next() * most);
  const ids = [randomUUID(), randomUUID(), randomUUID()];
  const [home = ''] = ids;
  const limit = (most: number) => (next() < 0.2 ? null : 1 + pick(most));
  const limits = ids.map(() => limitsOf({ rpm: limit(60), tpm: limit(3_000), concurrency: limit(8) }));
  const turns = new Map<string, number>();
  const made: string[] = [];
  const entry = (id: string): WindowEntry => ({
    id,
    requests: pick(3),
    tokens: pick(100),
    ageMs: pick(70_000) - 900,
  });
  const last = new Map<string, Omit<PermitRequest, 'epoch'>>();
  return Array.from({ length: 60 }, (_, step) => {
    const process = `p${pick(3)}`;
    const again = last.get(process);
    if (again && next() < 0.05) return { passMs: pick(3_000), ask: (epoch) => ({ ...again, epoch }) };
    const turn = (turns.get(process) ?? 0) + 1;
    turns.set(process, turn);
    const old = made[pick(made.length)] ?? '';
    made.push(`${process}.${turn}`);
    const subjects = ids.map((id, position) => ({
      id,
      limits: limits[position] ?? limitsOf({}),
      slots: pick(4),
      lowered: next() < 0.4 ? [entry(old)] : [],
      used: next() < 0.3 ? [entry(`${process}.u${step}`)] : [],
      want: { requests: pick(10), tokens: pick(200), slots: pick(3) },
    }));
    const calls = Array.from({ length: pick(5) }, () => ({
      subjects: [1 + pick(2), 0] as const,
      requests: next() < 0.9 ? (1 as const) : (0 as const),
      tokens: next() < 0.2 ? null : pick(400),
      slot: next() < 0.8,
    }));
    const base = { workspaceId: home, process, turn, processes: 3, subjects, calls };
    last.set(process, base);
    return { passMs: pick(3_000), ask: (epoch) => ({ ...base, epoch }) };
  });
}

describe.each(storeKinds)('a store of limits on %s (contract: limits/stores)', (kind) => {
  let nowMs = 0;
  let store: LimitStore;
  const drawn = random(2);
  beforeAll(() => {
    store = stores.open(kind, () => nowMs);
  });
  const fresh = () => {
    key = randomUUID();
    workspace = randomUUID();
    nowMs = 1_800_000_000_000 + Math.floor(drawn() * 1e9);
  };

  it('answers as the model does, whatever is asked', async () => {
    for (let seed = 1; seed <= 4; seed++) {
      fresh();
      const model = new MemoryStore(() => nowMs);
      for (const [step, { passMs, ask }] of schedule(seed).entries()) {
        nowMs += passMs;
        const [real, expected] = await Promise.all([store.carryOut(ask(null)), model.carryOut(ask(null))]);
        expect({ seed, step, ...real, epoch: '' }).toEqual({ seed, step, ...expected, epoch: '' });
      }
    }
  });

  it('admits a call once, however often its permit request arrives', async () => {
    fresh();
    const limits = limitsOf({ rpm: 3, concurrency: 3 });
    const first = await store.carryOut(askOf(1, { limits, count: 2 }));
    for (let again = 0; again < 5; again++) {
      expect(await store.carryOut(askOf(1, { limits, count: 2 }))).toEqual(first);
    }
    const next = await store.carryOut({ ...askOf(1, { limits, count: 2 }), process: 'two' });
    expect(next.admitted).toEqual([true, false]);
    expect((await store.carryOut(askOf(0, { limits }))).lost).toBe(true);
  });

  it('frees the slots of a process that has not been heard from for 20 s, and no sooner', async () => {
    fresh();
    const limits = limitsOf({ concurrency: 1 });
    expect((await store.carryOut(askOf(1, { limits }))).admitted).toEqual([true]);
    nowMs += 19_999;
    expect((await store.carryOut({ ...askOf(1, { limits }), process: 'two' })).admitted).toEqual([false]);
    nowMs += 1;
    expect((await store.carryOut({ ...askOf(2, { limits }), process: 'two' })).admitted).toEqual([true]);
  });

  it('frees the slots of a process that is known to be dead at once, and lets it take none again', async () => {
    fresh();
    const ownerId = randomUUID();
    const process = processName(ownerId);
    const limits = limitsOf({ concurrency: 1 });
    const { admitted } = await store.carryOut({ ...askOf(1, { limits }), process });
    expect(admitted).toEqual([true]);
    await freeSlots(store, ownerId, [{ workspaceId: workspace, keyId: key }]);
    expect((await store.carryOut({ ...askOf(2, { limits }), process })).lost).toBe(true);
    expect((await store.carryOut({ ...askOf(1, { limits }), process: 'two' })).admitted).toEqual([true]);
  });

  it('says so when it has lost what a process knew', async () => {
    fresh();
    const { epoch } = await store.carryOut(askOf(1));
    expect((await store.carryOut(askOf(2, { epoch }))).lost).toBe(false);
    expect(await store.carryOut(askOf(3, { epoch: 'another' }))).toMatchObject({ lost: true, epoch });
  });

  // `npm run bench -- limits` runs all cases, for longer.
  it.each(cases.filter(({ processes, load, limit }) => processes === 3 && load === 3 && limit > 1))(
    '$processes processes, $limit a minute, load $load, $arrivals: no minute has more, and 95% of what is allowed passes',
    async (one) => {
      fresh();
      const opened = (simulation: { nowMs: number }) => {
        const startMs = nowMs - simulation.nowMs;
        return stores.open(kind, () => startMs + simulation.nowMs);
      };
      const snapshot = snapshotOf({ keyId: key, workspaceId: workspace, limits: { rpm: one.limit } });
      const seen = await runCase(one, snapshot, opened, { minutes: 1, roundTripMs: 2 });
      if (process.env.SHOW) process.stdout.write(`#${kind} ${JSON.stringify({ ...one, ...seen })}\n`);
      expect(seen.lost).toEqual([]);
      expect(seen.most).toBeLessThanOrEqual(one.limit);
      expect(seen.admitted).toBeGreaterThanOrEqual(seen.allowed * 0.95);
    },
  );
});

it('every key in Redis has an expiry and the hash tag of its workspace (contract: limits/stores)', async () => {
  const redis = new Redis(stores.redis.url);
  await stores.open('Redis').carryOut(askOf(1, { limits: limitsOf({ rpm: 5, tpm: 500, concurrency: 3 }) }));
  const keys = await redis.keys('gateway:limits:*');
  expect(keys.length).toBeGreaterThan(6);
  for (const one of keys) {
    expect(one).toMatch(/^gateway:limits:\{[0-9a-f-]{36}\}(:[0-9a-f-]{36}:(at|weight|slot))?$/);
    // What other tests have left may expire at any moment; -1 would be a key that never does.
    expect(await redis.pttl(one)).not.toBe(-1);
  }
  redis.disconnect();
});
