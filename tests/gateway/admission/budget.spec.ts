import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import type { Claim } from '#lib/gateway/admission/claim';
import { createMoneyStore } from '#lib/gateway/admission/database/money-in-database';
import { postUsage } from '#lib/gateway/ledger/post-usage';
import { makeWorkspace, moneyOf, type Node, requestOf, startNode } from '#tests/support/admission';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const HOLD = 1_000_000n;
const RICH = 1_000_000n * HOLD;
let database: TestDatabase;
/** The gateway's wall clock, so that a month of any zone can be visited. */
let nowMs = Date.now();
let one: Node;
let two: Node;

beforeAll(async () => {
  database = await createDatabase();
  const clock = { now: () => nowMs, mono: () => performance.now() };
  one = await startNode(database.url, { clock });
  two = await startNode(database.url, { clock });
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

/** A correction of a call, which the ledger takes with any time. */
async function adjust({ workspace, key }: KeySnapshot, at: string | number, nano: bigint): Promise<void> {
  await one.db.pool.query(
    `INSERT INTO ledger_line (id, workspace_id, at, kind, ref, amount_nano, key_id)
     VALUES (gen_random_uuid(), $1, $2, 'adjustment', $3, $4, $5)`,
    [workspace.id, new Date(at).toISOString(), randomUUID(), `${-nano}`, key.id],
  );
}

function claimAt(
  snapshot: KeySnapshot,
  atMs: number,
  node = one,
): Claim | Refusal | Promise<Claim | Refusal> {
  nowMs = atMs;
  return node.coordinator.claim(requestOf(snapshot, HOLD, { atMs }));
}

/** Whether a budget of 1 hold that was spent at `spentMs` refuses a call at `atMs`. */
async function refusedAt(timeZone: string, spentMs: number, atMs: number) {
  const snapshot = await makeWorkspace(one.db, { balanceNano: RICH, budgetNano: HOLD, timeZone });
  await adjust(snapshot, spentMs, HOLD);
  const answer = await claimAt(snapshot, atMs);
  return isRefusal(answer) ? answer : null;
}

describe('a hard budget (contract: money/budget-mode)', () => {
  it.each([
    ['UTC', '2026-06-01T00:00:00Z', '2026-07-01T00:00:00Z'],
    ['Asia/Kathmandu', '2026-12-31T18:15:00Z', '2027-01-31T18:15:00Z'],
    // Clocks go back on 1 November after midnight, which comes twice.
    ['America/Havana', '2026-11-01T04:00:00Z', '2026-12-01T05:00:00Z'],
    // Clocks go forward on 29 March and back on 25 October.
    ['Europe/Berlin', '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'],
    ['Europe/Berlin', '2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z'],
  ])('lasts for a calendar month of %s', async (zone, start, end) => {
    const [startMs, endMs] = [Date.parse(start), Date.parse(end)];
    const refused = await refusedAt(zone, startMs, endMs - 1);
    expect(refused).toMatchObject({ code: 'insufficient_balance' });
    expect(refused?.message).toBe(
      `This workspace has reached its monthly budget of $0.001; it resets at ${end}, or raise it on the Billing page of the console.`,
    );
    expect(refused?.shouldRetry).toBeUndefined();
    expect(await refusedAt(zone, startMs, endMs)).toBeNull();
    expect(await refusedAt(zone, startMs - 1, startMs)).toBeNull();
  });

  it('counts what the ledger posts for calls, and neither top-ups nor corrections by hand', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: RICH, budgetNano: 2n * HOLD });
    const { id } = snapshot.workspace;
    const nowMs = Date.now();
    await one.db.pool.query(
      `INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano) VALUES
         (gen_random_uuid(), $1, 'adjustment', $2, -1000000000), (gen_random_uuid(), $1, 'top_up', $2, 1000000000)`,
      [id, randomUUID()],
    );
    const usage = [{ id, spentNano: HOLD, simulatedNano: 0n, calls: 1 }];
    await postUsage(one.db.pool, usage);
    const claim = claimed(await claimAt(snapshot, nowMs));
    one.coordinator.release(claim, { atMs: nowMs, chargeNano: 0n, tokens: null });
    await postUsage(one.db.pool, usage);
    expect(await claimAt(snapshot, nowMs)).toMatchObject({
      code: 'insufficient_balance',
      message: expect.stringContaining('budget of $0.002'),
    });
  });

  it('admits the call that crosses it, and not the next, of calls at once in two processes', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: RICH, budgetNano: 3n * HOLD - 1n });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, at) => claimAt(snapshot, Date.now(), at % 2 ? one : two)),
    );
    expect(answers.filter((answer) => !isRefusal(answer))).toHaveLength(3);
    // A retry helps when the calls that run cost less than they hold.
    expect(answers.find(isRefusal)).toMatchObject({ code: 'insufficient_balance', shouldRetry: true });
  });

  it('lets a call of a strict workspace in only if its whole hold fits', async () => {
    const snapshot = await makeWorkspace(one.db, {
      balanceNano: RICH,
      budgetNano: 2n * HOLD - 1n,
      strict: true,
    });
    const answers = await Promise.all([1, 2, 3].map(() => claimAt(snapshot, Date.now())));
    expect(answers.filter((answer) => !isRefusal(answer))).toHaveLength(1);
  });

  it('bounds what the processes lease together, and no call crosses out of a lease', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: RICH, budgetNano: 1_000n * HOLD });
    claimed(await claimAt(snapshot, Date.now(), one));
    claimed(await claimAt(snapshot, Date.now(), two));
    const { leased } = await moneyOf(one.db, snapshot.workspace.id);
    expect(leased).toBeGreaterThan(0n);
    expect(leased).toBeLessThanOrEqual(500n * HOLD);
    let admitted = 2;
    for (let refused = 0; refused < 2; ) {
      const answer = await claimAt(snapshot, Date.now(), admitted % 2 ? one : two);
      if (isRefusal(answer)) refused++;
      else admitted++;
    }
    expect(admitted).toBe(1_000);
  });

  it('counts what a process holds that was killed, until its charges are posted or its rows removed', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: RICH, budgetNano: 2n * HOLD });
    const killed = await startNode(database.url);
    claimed(await claimAt(snapshot, Date.now(), killed));
    claimed(await claimAt(snapshot, Date.now(), killed));
    expect(await claimAt(snapshot, Date.now())).toMatchObject({ code: 'insufficient_balance' });
    await one.db.pool.query("UPDATE owner SET expires_at = now() - interval '1 second' WHERE id = $1", [
      killed.ownerId,
    ]);
    await createMoneyStore(one.db, one.ownerId).closeExpired();
    claimed(await claimAt(snapshot, Date.now()));
    await killed.stop();
  });
});

it('a budget that only warns refuses nothing (contract: money/budget-mode)', async () => {
  const snapshot = await makeWorkspace(one.db, { balanceNano: RICH, budgetNano: 1n, budgetMode: 'warning' });
  await adjust(snapshot, Date.now(), HOLD);
  claimed(await claimAt(snapshot, Date.now()));
});
