import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { redisStore, upstashStore } from '#lib/gateway/limits/store/redis';
import { snapshotOf } from '#tests/support/admission';
import { admitted, type Member, startMember } from '#tests/support/limits/fleet';
import { restToken, type Stores, startStores } from '#tests/support/limits/stores';
import { type TcpProxy, tcpProxy } from '#tests/support/tcp-proxy';

/** As long as a call waits in production. */
const patienceMs = 50;
const unhurriedMs = 60_000;
/** Far below what a call waits that nobody ends: more than that is not the machine that is busy. */
const mostMs = 20_000;

let stores: Stores;
let proxy: TcpProxy;
let admin: Redis;
const opened: LimitStore[] = [];
beforeAll(async () => {
  stores = await startStores();
  proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(stores.redis.url).port) });
  admin = new Redis(stores.redis.url);
});
afterAll(async () => {
  for (const store of opened) await store.close();
  admin.disconnect();
  await proxy.close();
  await stores.close();
});

beforeEach(() => proxy.restore());

/** One of two processes on a Redis behind a proxy; its store has answered, and its clock moves by `pass` alone. */
async function startProcess() {
  let aheadMs = 0;
  const [now, mono] = [Date.now(), performance.now()];
  const clock = { now: () => now + aheadMs, mono: () => mono + aheadMs };
  const onError = () => undefined;
  const real = redisStore(`redis://127.0.0.1:${proxy.port}`, { patienceMs: unhurriedMs, onError });
  opened.push(real);
  const store = { ...real, patienceMs: unhurriedMs };
  const member = startMember(store, { processes: 2, rank: 0 }, null, clock);
  await count(member, snapshotOf({ limits: { rpm: 5 } }), 1);
  expect(member.lost).toEqual([]);
  /** From now on calls wait as long as in production: a busy machine may take longer to answer at all. */
  const hurry = (ms = patienceMs) => {
    store.patienceMs = ms;
  };
  const pass = async (ms: number) => {
    aheadMs += ms;
    member.shared.tick();
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return Object.assign(member, { pass, hurry });
}

async function count(member: Member, snapshot: ReturnType<typeof snapshotOf>, calls: number) {
  let passed = 0;
  let longestMs = 0;
  for (let n = 0; n < calls; n++) {
    const sentMs = performance.now();
    const answer = await member.claim(snapshot);
    longestMs = Math.max(longestMs, performance.now() - sentMs);
    if (!admitted(answer)) continue;
    passed++;
    member.end(answer);
  }
  return { passed, longestMs };
}

/** Tries the store again until it answers. */
async function untilBack(member: Awaited<ReturnType<typeof startProcess>>) {
  const snapshot = snapshotOf({ limits: { rpm: 5 } });
  // That it answers at all is asked here, not that a busy machine answers in time.
  member.hurry(unhurriedMs);
  for (let tries = 0; tries < 100; tries++) {
    const asks = member.asks;
    await count(member, snapshot, 1);
    await member.pass(1_100);
    if (member.asks > asks) {
      await member.pass(7_000);
      if ((await count(member, snapshotOf({ limits: { rpm: 3 } }), 5)).passed === 3) return;
    }
  }
  throw new Error('the store did not come back');
}

describe('a Redis that fails (contract: limits/store-away)', () => {
  it.each<[string, () => void]>([
    ['hangs', () => proxy.freeze()],
    ['breaks its connections and takes no new ones', () => proxy.cut()],
    ['is forgotten by a router', () => proxy.strand()],
  ])(
    '%s: calls wait 50 ms once, this process keeps to its share, and it comes back by itself',
    async (_, fail) => {
      const member = await startProcess();
      await count(member, snapshotOf({ limits: { rpm: 5 } }), 1);
      fail();
      member.hurry();
      const first = await count(member, snapshotOf({ limits: { rpm: 20 } }), 40);
      // Its share of two processes.
      expect(first.passed).toBe(10);
      expect(first.longestMs).toBeLessThan(mostMs);
      expect(member.lost).toHaveLength(1);
      const { asks } = member;
      const later = await count(member, snapshotOf({ limits: { rpm: 7 } }), 40);
      // What does not divide is its own, as that of the first.
      expect(later).toMatchObject({ passed: 4 });
      expect(member.asks, 'asks that a call could wait for').toBe(asks);
      proxy.restore();
      await untilBack(member);
    },
  );

  it('that lost its script is sent it again, in the same permit request', async () => {
    const member = await startProcess();
    const snapshot = snapshotOf({ limits: { rpm: 4 } });
    expect((await count(member, snapshot, 2)).passed).toBe(2);
    await admin.script('FLUSH');
    expect((await count(member, snapshot, 4)).passed).toBe(2);
    expect(member.lost).toEqual([]);
  });

  it('that became a replica refuses to write: the share holds until a primary answers', async () => {
    const member = await startProcess();
    const snapshot = snapshotOf({ limits: { rpm: 8 } });
    expect((await count(member, snapshot, 2)).passed).toBe(2);
    await admin.replicaof('127.0.0.1', 1);
    try {
      // Two of its four are used.
      expect((await count(member, snapshot, 8)).passed).toBe(2);
      expect(String(member.lost[0])).toContain('READONLY');
    } finally {
      await admin.replicaof('NO', 'ONE');
    }
    await untilBack(member);
  });

  it('that is full refuses to write: the share holds', async () => {
    const member = await startProcess();
    await admin.config('SET', 'maxmemory', '1');
    try {
      expect((await count(member, snapshotOf({ limits: { rpm: 8 } }), 8)).passed).toBe(4);
      expect(String(member.lost[0])).toContain('OOM');
    } finally {
      await admin.config('SET', 'maxmemory', '0');
    }
    await untilBack(member);
  });

  it('that was flushed gets another report of what counts (contract: limits/store-empty)', async () => {
    const member = await startProcess();
    const snapshot = snapshotOf({ limits: { rpm: 6 } });
    expect((await count(member, snapshot, 3)).passed).toBe(3);
    await admin.flushall();
    expect((await count(member, snapshot, 10)).passed).toBe(0);
    await member.pass(7_000);
    expect((await count(member, snapshot, 10)).passed).toBe(3);
    expect(member.lost).toEqual([]);
  });
});

it('Redis by REST that hangs or refuses: a permit request is sent once, and its process keeps to its share', async () => {
  let requests = 0;
  const behind = await tcpProxy(
    { host: '127.0.0.1', port: Number(new URL(stores.restUrl).port) },
    () => () => {
      requests++;
    },
  );
  const store = upstashStore({ url: `http://127.0.0.1:${behind.port}`, token: restToken }, { patienceMs });
  const clock = { now: () => Date.now(), mono: () => performance.now() };
  for (const fail of [() => behind.freeze(), () => behind.cut()]) {
    behind.restore();
    const ask = { workspaceId: randomUUID(), process: 'p', turn: 1, epoch: null, processes: 1 };
    const answers = () => store.carryOut({ ...ask, subjects: [], calls: [] }).catch(() => null);
    await expect.poll(answers).toMatchObject({ lost: false });
    const member = startMember(store, { processes: 2, rank: 1 }, null, clock);
    fail();
    requests = 0;
    const seen = await count(member, snapshotOf({ limits: { rpm: 8 } }), 20);
    expect(seen.passed).toBe(4);
    expect(seen.longestMs).toBeLessThan(mostMs);
    expect(requests).toBeLessThanOrEqual(1);
    await member.shared.close().catch(() => undefined);
  }
  await behind.close();
});

it('PostgreSQL that emptied the tables of limits gets another report of what counts (contract: limits/store-empty)', async () => {
  const store = stores.open('PostgreSQL');
  let aheadMs = 0;
  const clock = { now: () => Date.now() + aheadMs, mono: () => performance.now() + aheadMs };
  const member = startMember(store, { processes: 2, rank: 0 }, null, clock);
  const snapshot = snapshotOf({ workspaceLimits: { rpm: 6 } });
  expect((await count(member, snapshot, 3)).passed).toBe(3);
  await stores.query('TRUNCATE limit_grant, limit_slot, limit_turn');
  expect((await count(member, snapshot, 10)).passed).toBe(0);
  aheadMs += 7_000;
  expect((await count(member, snapshot, 10)).passed).toBe(3);
});
