import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import type { Claim, ClaimRequest } from '#lib/gateway/admission/claim';
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
import { eventually } from '#tests/support/eventually';

const HOLD = 1_000_000n;
const durable: Partial<ClaimRequest> = { durable: true };
let database: TestDatabase;
let one: Node;
let two: Node;

beforeAll(async () => {
  database = await createDatabase();
  one = await startNode(database.url, { clock: stillClock() });
  two = await startNode(database.url, { clock: stillClock() });
});

afterAll(async () => {
  await one.stop();
  await two.stop();
  await database.drop();
});

async function claimed(answer: Promise<Claim | Refusal> | Claim | Refusal): Promise<Claim> {
  const claim = await answer;
  if (isRefusal(claim)) throw new Error(`refused: ${claim.message}`);
  return claim;
}

async function refused(answer: Promise<Claim | Refusal> | Claim | Refusal): Promise<Refusal> {
  const refusal = await answer;
  if (!isRefusal(refusal)) throw new Error('admitted');
  return refusal;
}

async function ownerOf(claim: Claim): Promise<(string | null)[]> {
  const { rows } = await one.db.pool.query('SELECT owner_id FROM hold WHERE call_id = $1', [claim.callId]);
  return rows.map((row) => row.owner_id);
}

/** A workspace with a lease that covers a thousand holds. */
async function leased(parts: Parameters<typeof makeWorkspace>[1] = {}): Promise<KeySnapshot> {
  const snapshot = await makeWorkspace(one.db, { balanceNano: 4_000n * HOLD, ...parts });
  const first = await claimed(one.coordinator.claim(requestOf(snapshot, HOLD)));
  expect(first.funding).toBe('lease');
  return snapshot;
}

describe('a durable claim', () => {
  it('is a row of this process even though the lease covers it', async () => {
    const snapshot = await leased();
    const claim = await claimed(one.coordinator.claim(requestOf(snapshot, HOLD, durable)));
    expect(claim.funding).toBe('row');
    expect(await ownerOf(claim)).toEqual([one.ownerId]);
  });

  it('lets the next call be admitted from the lease, without a promise', async () => {
    const snapshot = await leased();
    await claimed(one.coordinator.claim(requestOf(snapshot, HOLD, durable)));
    const next = one.coordinator.claim(requestOf(snapshot, HOLD));
    expect(next).not.toBeInstanceOf(Promise);
    expect((await claimed(next)).funding).toBe('lease');
  });

  it('recalls unspent money of other processes when nothing else is left', async () => {
    const snapshot = await leased();
    const { free } = await moneyOf(one.db, snapshot.workspace.id);
    // More than what is free: the crossing one. The next finds nothing but the lease.
    await claimed(two.coordinator.claim(requestOf(snapshot, free, durable)));
    const claim = await claimed(two.coordinator.claim(requestOf(snapshot, HOLD, durable)));
    expect(claim.funding).toBe('row');
  });

  it('is refused for the balance, and for the caps of its key, as any other', async () => {
    const poor = await makeWorkspace(one.db, { balanceNano: HOLD });
    await claimed(one.coordinator.claim(requestOf(poor, HOLD, durable)));
    expect((await refused(one.coordinator.claim(requestOf(poor, HOLD, durable)))).code).toBe(
      'insufficient_balance',
    );
    const capped = await makeWorkspace(one.db, { balanceNano: 900n * HOLD, caps: { dayNano: HOLD } });
    await claimed(one.coordinator.claim(requestOf(capped, HOLD, durable)));
    expect((await refused(one.coordinator.claim(requestOf(capped, HOLD, durable)))).code).toBe(
      'day_limit_reached',
    );
  });

  it('of a strict workspace must fit', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: HOLD, strict: true });
    expect((await refused(one.coordinator.claim(requestOf(snapshot, HOLD + 1n, durable)))).code).toBe(
      'insufficient_balance',
    );
    await claimed(one.coordinator.claim(requestOf(snapshot, HOLD, durable)));
  });

  it('of the last money is granted once among 100 in two processes', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: HOLD });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        (n % 2 ? one : two).coordinator.claim(requestOf(snapshot, HOLD, durable)),
      ),
    );
    expect(answers.filter((answer) => !isRefusal(answer))).toHaveLength(1);
  });
});

describe('the row of a durable claim', () => {
  const outcome = { atMs: Date.now(), chargeNano: 0n, tokens: 0 };

  it('goes with a call that became no job', async () => {
    const claim = await claimed(one.coordinator.claim(requestOf(await leased(), HOLD, durable)));
    one.coordinator.release(claim, outcome);
    await eventually(() => ownerOf(claim), []);
  });

  it('that has become a job’s outlives the end of its call, its process and the closing of dead ones', async () => {
    const snapshot = await leased();
    const claim = await claimed(one.coordinator.claim(requestOf(snapshot, HOLD, durable)));
    await one.db.pool.query('UPDATE hold SET owner_id = NULL WHERE call_id = $1', [claim.callId]);
    one.coordinator.release(claim, outcome);
    await one.coordinator.maintain();
    await one.db.pool.query("UPDATE owner SET expires_at = now() - interval '1 s' WHERE id = $1", [
      one.ownerId,
    ]);
    let sleptMs = 0;
    const still = stillClock();
    const third = await startNode(database.url, {
      clock: { now: still.now, mono: () => still.mono() + sleptMs },
    });
    // It closes dead ones with its next heartbeat.
    sleptMs = 11_000;
    await maintain(third);
    await third.stop();
    const owners = await one.db.pool.query('SELECT 1 FROM owner WHERE id = $1', [one.ownerId]);
    expect(owners.rowCount).toBe(0);
    expect(await ownerOf(claim)).toEqual([null]);
  });
});
