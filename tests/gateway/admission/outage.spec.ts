import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import type { Claim } from '#lib/gateway/admission/claim';
import {
  maintain,
  makeWorkspace,
  moneyOf,
  type Node,
  requestOf,
  snapshotOf,
  startNode,
} from '#tests/support/admission';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { type TcpProxy, tcpProxy } from '#tests/support/tcp-proxy';

const HOLD = 1_000_000n;
const outage = { forMs: 600_000, boundNano: 1_000_000_000n };

let database: TestDatabase;
let direct: Pool;
beforeAll(async () => {
  database = await createDatabase();
  direct = new Pool({ connectionString: database.url, max: 1 });
});
afterAll(async () => {
  await direct.end();
  await database.drop();
});

/** A process whose database can be taken away, on a clock that the test moves. */
interface Apart {
  readonly node: Node;
  readonly proxy: TcpProxy;
  readonly clock: { now: () => number; mono: () => number; passed: number };
  /** Calls that have ended and are to be posted by the next flush. */
  readonly ended: Claim[];
}

async function apart(limits = outage): Promise<Apart> {
  const real = new URL(database.url);
  const proxy = await tcpProxy({ host: real.hostname, port: Number(real.port) });
  const url = new URL(database.url);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const [startMs, startMono] = [Date.now(), Math.ceil(performance.now())];
  const clock = { passed: 0, now: () => startMs + clock.passed, mono: () => startMono + clock.passed };
  const ended: Claim[] = [];
  const node = await startNode(url.href, {
    clock,
    outage: limits,
    flush: (node) =>
      node.post(
        ended.splice(0).map(({ callId, workspaceId, keyId, funding }) => {
          return { callId, workspaceId, keyId, funding, chargeNano: HOLD };
        }),
      ),
  });
  return { node, proxy, clock, ended };
}

let nodes: Apart[] = [];
beforeEach(() => {
  nodes = [];
});
afterEach(async () => {
  for (const { node, proxy } of nodes) {
    proxy.restore();
    // Its calls never end: nobody shares with it in the next test.
    await expect
      .poll(() =>
        node.db.pool.query('DELETE FROM hold').then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await node.db.pool.query('DELETE FROM owner');
    await node.stop();
    await proxy.close();
  }
  // What it still did meanwhile, such as a heartbeat on its way, must not count in the next test either.
  await direct.query('DELETE FROM hold');
  await direct.query('DELETE FROM owner');
});

async function start(count = 1, limits = outage): Promise<Apart[]> {
  for (let n = 0; n < count; n++) nodes.push(await apart(limits));
  return nodes;
}

const claim = ({ node }: Apart, snapshot: KeySnapshot, extra = {}) =>
  node.coordinator.claim(requestOf(snapshot, HOLD, extra));

/** Claims until the first refusal. */
async function exhaust(at: Apart, snapshot: KeySnapshot): Promise<{ claims: Claim[]; refused: Refusal }> {
  const claims: Claim[] = [];
  for (;;) {
    const answer = await claim(at, snapshot);
    if (isRefusal(answer)) return { claims, refused: answer };
    claims.push(answer);
    if (claims.length > 10_000) throw new Error('it admits without end');
  }
}

function end({ node, ended }: Apart, one: Claim, chargeNano = HOLD): void {
  node.coordinator.release(one, { atMs: Date.now(), chargeNano, tokens: null });
  ended.push(one);
}

describe('while the database is away (contract: money/outage-allowance)', () => {
  it.each(['cut', 'freeze'] as const)('spends what was known and no more: %s', async (how) => {
    const [one] = (await start()) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, { balanceNano: 100n * HOLD });
    const before = (await claim(one, snapshot)) as Claim;
    one.proxy[how]();
    const { claims, refused } = await exhaust(one, snapshot);
    expect(claims.length).toBe(99);
    expect(refused.code).toBe('local_quota_not_configured');
    expect(refused.message).toMatch(/what this workspace may spend without it is used up/);
    expect(one.node.coordinator.ready()).toBe(true);
    end(one, before);
  });

  it('shares what was known among the processes that lived', async () => {
    const all = await start(3);
    const snapshot = await makeWorkspace(all[0]?.node.db as never, { balanceNano: 900n * HOLD });
    for (const one of all) expect(isRefusal(await claim(one, snapshot))).toBe(false);
    // With the next heartbeat each asks again what is free.
    for (const one of all) one.clock.passed += 10_000;
    for (const one of all) expect(isRefusal(await claim(one, snapshot))).toBe(false);
    for (const one of all) await maintain(one.node);
    // Waits its turn behind what the heartbeat asked for.
    for (const one of all) expect(isRefusal(await claim(one, snapshot, { durable: true }))).toBe(false);
    for (const one of all) one.proxy.cut();
    let admitted = 9;
    for (const one of all) admitted += (await exhaust(one, snapshot)).claims.length;
    expect(admitted).toBeLessThanOrEqual(900);
    expect(admitted).toBeGreaterThan(800);
  });

  it('keeps the caps of a key', async () => {
    const [one] = (await start()) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, {
      balanceNano: 1_000n * HOLD,
      caps: { d7Nano: 50n * HOLD },
    });
    await claim(one, snapshot);
    one.proxy.cut();
    const { claims, refused } = await exhaust(one, snapshot);
    expect(claims.length).toBe(49);
    expect(refused.message).toMatch(/what this API key may spend without it/);
  });

  it('keeps the bound of the operator for all workspaces together', async () => {
    const [one] = (await start(1, { ...outage, boundNano: 30n * HOLD })) as [Apart];
    const rich = await makeWorkspace(one.node.db, { balanceNano: 100_000n * HOLD });
    const other = await makeWorkspace(one.node.db, { balanceNano: 100_000n * HOLD });
    for (const snapshot of [rich, other]) await claim(one, snapshot);
    one.proxy.cut();
    // Leases are void after 40 s without a heartbeat; then everything is within the bound.
    one.clock.passed += 41_000;
    for (let n = 0; n < 20; n++) expect(isRefusal(await claim(one, rich))).toBe(false);
    const { claims, refused } = await exhaust(one, other);
    expect(claims.length).toBe(10);
    expect(refused.message).toMatch(/what this process may admit without it is used up/);
  });

  it('pays no real provider with simulated money', async () => {
    const [one] = (await start()) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, {
      balanceNano: 100n * HOLD,
      simulatedNano: 90n * HOLD,
    });
    await claim(one, snapshot);
    one.proxy.cut();
    expect((await exhaust(one, snapshot)).claims.length).toBe(9);
    expect(isRefusal(await claim(one, snapshot, { simulated: true }))).toBe(false);
  });

  it('refuses workspaces that it has not asked for, and holds that must be a row', async () => {
    const [one] = (await start()) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, { balanceNano: 100n * HOLD });
    await claim(one, snapshot);
    one.proxy.cut();
    const strange = await claim(one, snapshotOf({}));
    expect(isRefusal(strange) && strange.message).toMatch(/used up or not known/);
    const durable = await claim(one, snapshot, { durable: true });
    expect(isRefusal(durable) && durable.code).toBe('local_quota_not_configured');
  });

  it('admits for as long as the operator says', async () => {
    const [one] = (await start()) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, { balanceNano: 10_000n * HOLD });
    await claim(one, snapshot);
    one.proxy.cut();
    one.clock.passed += 41_000;
    expect(isRefusal(await claim(one, snapshot))).toBe(false);
    one.clock.passed += 599_999;
    expect(isRefusal(await claim(one, snapshot))).toBe(false);
    one.clock.passed += 1;
    const late = await claim(one, snapshot);
    expect(isRefusal(late) && late.message).toMatch(/away for longer than calls go on without it/);
    expect(one.node.coordinator.ready()).toBe(false);
  });

  it('refuses at once without the setting, as leases end', async () => {
    const [one] = (await start(1, { forMs: 0, boundNano: 0n })) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, { balanceNano: 10_000n * HOLD });
    await claim(one, snapshot);
    one.proxy.cut();
    one.clock.passed += 41_000;
    const refused = await claim(one, snapshot);
    expect(isRefusal(refused) && refused.message).toBe(
      'The gateway cannot reach the database that holds the balances; retry in a few seconds.',
    );
  });

  it('gives back what a call did not spend, and lets a running one hold more', async () => {
    const [one] = (await start()) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, { balanceNano: 100n * HOLD });
    await claim(one, snapshot);
    one.proxy.cut();
    one.clock.passed += 41_000;
    const { claims } = await exhaust(one, snapshot);
    const [first, second] = claims as [Claim, Claim];
    expect(await one.node.coordinator.grow(first, HOLD + 1n)).toBe(false);
    one.node.coordinator.release(second, { atMs: Date.now(), chargeNano: HOLD / 4n, tokens: null });
    expect(await one.node.coordinator.grow(first, HOLD + HOLD / 2n)).toBe(true);
    expect(isRefusal(await claim(one, snapshot))).toBe(true);
  });
});

describe('when the database is back (contract: money/outage-allowance)', () => {
  it('posts what was admitted meanwhile before it asks for more', async () => {
    const [one] = (await start()) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, { balanceNano: 100n * HOLD });
    const before = (await claim(one, snapshot)) as Claim;
    one.proxy.cut();
    one.clock.passed += 41_000;
    const { claims } = await exhaust(one, snapshot);
    expect(claims.length).toBeGreaterThan(90);
    for (const each of [before, ...claims]) end(one, each);
    one.proxy.restore();
    await expect.poll(() => maintain(one.node).then(() => one.ended.length)).toBe(0);
    const left = BigInt(100 - 1 - claims.length);
    const money = await moneyOf(one.node.db, snapshot.workspace.id);
    expect(money.free + money.leased).toBe(left * HOLD);
    const { claims: after, refused } = await exhaust(one, snapshot);
    expect(BigInt(after.length)).toBe(left);
    expect(refused.code).toBe('insufficient_balance');
  });

  it('knows nothing in the next outage that it has not asked again', async () => {
    const [one] = (await start(1, { ...outage, boundNano: 30n * HOLD })) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, { balanceNano: 1_000n * HOLD });
    const idle = await makeWorkspace(one.node.db, { balanceNano: 20n * HOLD });
    await claim(one, snapshot);
    await claim(one, idle);
    one.proxy.cut();
    one.clock.passed += 41_000;
    for (let n = 0; n < 20; n++) expect(isRefusal(await claim(one, snapshot))).toBe(false);
    one.proxy.restore();
    const held = async () => (await moneyOf(one.node.db, snapshot.workspace.id)).rows;
    await expect.poll(() => maintain(one.node).then(held)).toBe(20n * HOLD);
    expect(isRefusal(await claim(one, snapshot))).toBe(false);
    one.proxy.cut();
    one.clock.passed += 41_000;
    expect((await exhaust(one, snapshot)).claims.length).toBe(30);
    expect(isRefusal(await claim(one, idle))).toBe(true);
  });

  it('asks for no money before that, also when its time was over', async () => {
    const [one] = (await start(1, { ...outage, forMs: 60_000 })) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, { balanceNano: 100n * HOLD });
    const before = (await claim(one, snapshot)) as Claim;
    one.proxy.cut();
    one.clock.passed += 41_000;
    const { claims } = await exhaust(one, snapshot);
    for (const each of [before, ...claims]) end(one, each);
    one.clock.passed += 60_000;
    one.proxy.restore();
    const early = await claim(one, snapshot);
    expect(isRefusal(early) && early.message).toMatch(/away for longer than calls go on without it/);
    await expect.poll(() => maintain(one.node).then(() => one.ended.length)).toBe(0);
    const { claims: after, refused } = await exhaust(one, snapshot);
    expect(after.length).toBe(100 - 1 - claims.length);
    expect(refused.code).toBe('insufficient_balance');
  });

  it('holds what calls hold that still run, and lets them hold more', async () => {
    const [one] = (await start()) as [Apart];
    const snapshot = await makeWorkspace(one.node.db, { balanceNano: 100n * HOLD });
    const before = (await claim(one, snapshot)) as Claim;
    end(one, before);
    one.proxy.cut();
    one.clock.passed += 41_000;
    const running: Claim[] = [];
    for (let n = 0; n < 60; n++) running.push((await claim(one, snapshot)) as Claim);
    one.proxy.restore();
    const held = async () => (await moneyOf(one.node.db, snapshot.workspace.id)).rows;
    await expect.poll(() => maintain(one.node).then(held)).toBe(60n * HOLD);
    const [first, second] = running as [Claim, Claim];
    expect(await one.node.coordinator.grow(first, 2n * HOLD)).toBe(true);
    expect(await held()).toBe(61n * HOLD);
    // One that ends without a charge leaves no row behind.
    one.node.coordinator.release(second, { atMs: Date.now(), chargeNano: 0n, tokens: null });
    await expect.poll(() => maintain(one.node).then(held)).toBe(60n * HOLD);
    expect((await exhaust(one, snapshot)).claims.length).toBe(100 - 1 - 60);
  });
});
