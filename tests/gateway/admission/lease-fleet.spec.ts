import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Claim, Posted } from '#lib/gateway/admission/claim';
import {
  maintain,
  makeWorkspace,
  moneyOf,
  type Node,
  requestOf,
  startNode,
  stillClock,
} from '#tests/support/admission';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const HOLD = 1_000_000n;
let database: TestDatabase;
let one: Node;
let two: Node;

beforeAll(async () => {
  database = await createDatabase();
  one = await startNode(database.url);
  // It waits for others as long as they take.
  two = await startNode(database.url, { clock: stillClock() });
});

afterAll(async () => {
  await one.stop();
  await two.stop();
  await database.drop();
});

function claimed(answer: Claim | Refusal): Claim {
  if (isRefusal(answer)) throw new Error(`refused: ${answer.code}: ${answer.message}`);
  return answer;
}

async function setBalance(id: string, balanceNano: bigint): Promise<void> {
  await one.db.pool.query('UPDATE workspace SET balance_nano = $2 WHERE id = $1', [id, `${balanceNano}`]);
}

describe('leases (contract: money/leases)', () => {
  it('answer without SQL and without a promise while they last', async () => {
    const snapshot = await makeWorkspace(one.db, {
      balanceNano: 100_000n * HOLD,
      caps: { dayNano: 100_000n * HOLD },
      limits: { rpm: 1_000_000, tpm: 1_000_000_000, concurrency: 100_000 },
    });
    const first = claimed(await one.coordinator.claim(requestOf(snapshot, HOLD)));
    expect(first.funding).toBe('lease');
    const before = one.statements();
    const answers = Array.from({ length: 5_000 }, () =>
      one.coordinator.claim(requestOf(snapshot, HOLD, { tokens: 10 })),
    );
    const claims = answers.map((answer) => {
      if (answer instanceof Promise) throw new Error('a covered claim gave a promise');
      return claimed(answer);
    });
    for (const claim of claims) {
      one.coordinator.release(claim, { atMs: Date.now(), chargeNano: HOLD / 2n, tokens: 8 });
    }
    expect(one.statements()).toBe(before);
  });

  it('take at most half of what is free, shared by the live owners', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 1_000n * HOLD });
    claimed(await one.coordinator.claim(requestOf(snapshot, HOLD)));
    expect((await moneyOf(one.db, snapshot.workspace.id)).leased).toBe(250n * HOLD);
    claimed(await two.coordinator.claim(requestOf(snapshot, HOLD)));
    expect((await moneyOf(one.db, snapshot.workspace.id)).leased).toBe(250n * HOLD + 187n * HOLD + HOLD / 2n);
  });

  it('are not given below 20 of the largest holds: there each hold is a row', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 20n * HOLD - 1n });
    const claim = claimed(await one.coordinator.claim(requestOf(snapshot, HOLD)));
    expect(claim.funding).toBe('row');
    expect(await moneyOf(one.db, snapshot.workspace.id)).toEqual({
      free: 19n * HOLD - 1n,
      rows: HOLD,
      leased: 0n,
    });
  });

  it('grow in the background before they run out, and shrink with what the drain posts', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 2_000n * HOLD });
    const posts = [];
    for (let n = 0; n < 600; n++) {
      const claim = claimed(await one.coordinator.claim(requestOf(snapshot, HOLD)));
      expect(claim.funding).toBe('lease');
      one.coordinator.release(claim, { atMs: Date.now(), chargeNano: HOLD, tokens: null });
      posts.push({
        callId: claim.callId,
        workspaceId: claim.workspaceId,
        keyId: claim.keyId,
        funding: claim.funding,
        chargeNano: HOLD,
      });
      if (posts.length === 100) await one.post(posts.splice(0));
    }
    const money = await moneyOf(one.db, snapshot.workspace.id);
    expect(money.free + money.leased).toBe(1_400n * HOLD);
    await one.coordinator.close();
    expect((await moneyOf(one.db, snapshot.workspace.id)).leased).toBe(0n);
    one = await startNode(database.url);
  });
});

describe('ended calls', () => {
  it.each([
    ['are spent from the lease before they are posted', 1_000],
    ['are spent once, posted or not', 7],
  ])('%s', async (_name, postEvery) => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 400n * HOLD });
    const { id } = snapshot.workspace;
    const posts: Posted[] = [];
    let charged = 0n;
    for (;;) {
      const answer = await one.coordinator.claim(requestOf(snapshot, HOLD));
      if (isRefusal(answer)) break;
      const { callId, keyId, funding } = answer;
      one.coordinator.release(answer, { atMs: Date.now(), chargeNano: HOLD, tokens: null });
      posts.push({ callId, workspaceId: id, keyId, funding, chargeNano: HOLD });
      charged += HOLD;
      expect(charged).toBeLessThanOrEqual(400n * HOLD);
      if (posts.length >= postEvery) await one.post(posts.splice(0));
    }
    expect(charged).toBe(400n * HOLD);
    await one.post(posts);
    expect((await moneyOf(one.db, id)).free).toBeLessThanOrEqual(0n);
  });
});

describe('a recall (contract: money/recall)', () => {
  it("brings back another owner's unspent lease instead of a 402", async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 1_000n * HOLD });
    const running = claimed(await one.coordinator.claim(requestOf(snapshot, HOLD)));
    const { leased } = await moneyOf(one.db, snapshot.workspace.id);
    await setBalance(snapshot.workspace.id, leased);
    const answer = two.coordinator.claim(requestOf(snapshot, HOLD));
    const feed = async () =>
      (await one.db.pool.query('SELECT subject FROM change WHERE kind = $1', ['lease'])).rows;
    await expect.poll(feed).toContainEqual({ subject: `workspace:${snapshot.workspace.id}` });
    one.coordinator.recall('workspace', snapshot.workspace.id);
    expect(claimed(await answer).funding).toBe('row');
    expect(await moneyOf(one.db, snapshot.workspace.id)).toEqual({
      free: leased - 2n * HOLD,
      rows: HOLD,
      leased: HOLD,
    });
    one.coordinator.release(running, { atMs: Date.now(), chargeNano: 0n, tokens: null });
  });

  it('is noticed by the housekeeping too if the change feed is late', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 1_000n * HOLD });
    claimed(await one.coordinator.claim(requestOf(snapshot, HOLD)));
    const { leased } = await moneyOf(one.db, snapshot.workspace.id);
    await setBalance(snapshot.workspace.id, leased);
    expect(claimed(await two.coordinator.claim(requestOf(snapshot, HOLD))).funding).toBe('row');
  });

  it('that a dead owner does not answer within 2 s is a 500, never a 402', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 1_000n * HOLD });
    const dead = await startNode(database.url);
    claimed(await dead.coordinator.claim(requestOf(snapshot, HOLD)));
    const { leased } = await moneyOf(one.db, snapshot.workspace.id);
    await setBalance(snapshot.workspace.id, leased);
    await dead.db.close();
    let passedMs = 0;
    const asker = await startNode(database.url, { clock: { now: () => Date.now(), mono: () => passedMs } });
    let answered = false;
    const answer = Promise.resolve(asker.coordinator.claim(requestOf(snapshot, HOLD))).finally(() => {
      answered = true;
    });
    passedMs = 1_999;
    // It has asked the dead one, and looked for the answer more than once.
    const asked = asker.statements() + 6;
    await expect.poll(() => asker.statements()).toBeGreaterThan(asked);
    expect(answered).toBe(false);
    passedMs = 4_000;
    expect(await answer).toMatchObject({ code: 'local_quota_not_configured' });
    await asker.stop();
    await one.db.pool.query("UPDATE owner SET expires_at = now() - interval '1 second' WHERE id = $1", [
      dead.ownerId,
    ]);
    await one.db.pool.query('DELETE FROM owner WHERE id = $1', [dead.ownerId]);
    expect(claimed(await two.coordinator.claim(requestOf(snapshot, HOLD))).funding).toBe('lease');
  });

  it('leaves what running calls hold: then the answer is a 402 that may be retried', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 40n * HOLD });
    const claim = claimed(await one.coordinator.claim(requestOf(snapshot, HOLD)));
    expect(claim.funding).toBe('lease');
    await setBalance(snapshot.workspace.id, HOLD);
    const answer = two.coordinator.claim(requestOf(snapshot, HOLD));
    expect(await answer).toMatchObject({ code: 'insufficient_balance', shouldRetry: true });
  });
});

describe('an owner that was closed', () => {
  it('spends nothing from memory afterwards and goes on in a new epoch', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 1_000n * HOLD });
    let sleptMs = 0;
    const sleeper = await startNode(database.url, {
      clock: { now: () => Date.now() + sleptMs, mono: () => performance.now() + sleptMs },
    });
    const running = claimed(await sleeper.coordinator.claim(requestOf(snapshot, HOLD)));
    expect(running.funding).toBe('lease');
    await one.db.pool.query('DELETE FROM owner WHERE id = $1', [sleeper.ownerId]);
    sleptMs = 60_000;
    expect(sleeper.coordinator.ready()).toBe(false);
    const answer = sleeper.coordinator.claim(requestOf(snapshot, HOLD));
    expect(answer).toBeInstanceOf(Promise);
    expect(claimed(await answer).funding).toBe('lease');
    expect(sleeper.coordinator.ready()).toBe(true);
    const { rows } = await one.db.pool.query('SELECT epoch FROM owner WHERE id = $1', [sleeper.ownerId]);
    expect(rows).toHaveLength(1);
    await sleeper.stop();
  });

  it('has its leases and holds removed by others once it expired', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 1_000n * HOLD });
    const poor = await makeWorkspace(one.db, { balanceNano: 2n * HOLD });
    const dead = await startNode(database.url);
    claimed(await dead.coordinator.claim(requestOf(snapshot, HOLD)));
    claimed(await dead.coordinator.claim(requestOf(poor, HOLD)));
    await dead.db.close();
    await one.db.pool.query("UPDATE owner SET expires_at = now() - interval '1 second' WHERE id = $1", [
      dead.ownerId,
    ]);
    let sleptMs = 0;
    const other = await startNode(database.url, {
      clock: { now: () => Date.now(), mono: () => performance.now() + sleptMs },
    });
    sleptMs = 11_000;
    await maintain(other);
    expect(await moneyOf(one.db, snapshot.workspace.id)).toMatchObject({ free: 1_000n * HOLD });
    expect(await moneyOf(one.db, poor.workspace.id)).toMatchObject({ free: 2n * HOLD });
    await other.stop();
  });

  it('gives an idle lease back', async () => {
    let sleptMs = 0;
    const idle = await startNode(database.url, {
      clock: { now: () => Date.now(), mono: () => performance.now() + sleptMs },
    });
    const snapshot = await makeWorkspace(one.db, { balanceNano: 1_000n * HOLD });
    const claim = claimed(await idle.coordinator.claim(requestOf(snapshot, HOLD)));
    sleptMs = 10_001;
    await maintain(idle);
    expect((await moneyOf(one.db, snapshot.workspace.id)).leased).toBe(HOLD);
    idle.coordinator.release(claim, { atMs: Date.now(), chargeNano: 0n, tokens: null });
    await maintain(idle);
    expect((await moneyOf(one.db, snapshot.workspace.id)).leased).toBe(0n);
    await idle.stop();
  });
});
