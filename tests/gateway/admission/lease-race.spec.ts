import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Claim } from '#lib/gateway/admission/claim';
import {
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
  one = await startNode(database.url, { clock: stillClock() });
  two = await startNode(database.url, { clock: stillClock() });
});

afterAll(async () => {
  await one.stop();
  await two.stop();
  await database.drop();
});

function split(answers: readonly (Claim | Refusal)[]) {
  const claims = answers.filter((answer): answer is Claim => !isRefusal(answer));
  const refusals = answers.filter(isRefusal);
  return { claims, refusals };
}

describe('a race for the last money (contract: money/crossing-call)', () => {
  it('admits at most 10 and the crossing one of 200 parallel calls on a balance for 10', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 10n * HOLD });
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => one.coordinator.claim(requestOf(snapshot, HOLD))),
    );
    const { claims, refusals } = split(answers);
    expect(claims).toHaveLength(10);
    expect(refusals.every((refused) => refused.code === 'insufficient_balance')).toBe(true);
    expect(refusals.every((refused) => refused.shouldRetry === true)).toBe(true);
    expect(await moneyOf(one.db, snapshot.workspace.id)).toEqual({ free: 0n, rows: 10n * HOLD, leased: 0n });
  });

  it('admits the one that crosses and no other when the balance is not a multiple of the hold', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 10n * HOLD + 1n });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 ? one : two).coordinator.claim(requestOf(snapshot, HOLD))),
    );
    expect(split(answers).claims).toHaveLength(11);
    expect((await moneyOf(one.db, snapshot.workspace.id)).free).toBe(1n - HOLD);
  });

  it('admits exactly one of 1000 parallel calls on a balance for one', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: HOLD });
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, () => one.coordinator.claim(requestOf(snapshot, HOLD))),
    );
    expect(split(answers).claims).toHaveLength(1);
  });

  it('never lets two owners spend more than the balance and one crossing hold', async () => {
    const balanceNano = 1_000n * HOLD;
    const snapshot = await makeWorkspace(one.db, { balanceNano });
    let held = 0n;
    for (let round = 0; round < 30; round++) {
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          (n % 2 ? one : two).coordinator.claim(requestOf(snapshot, HOLD)),
        ),
      );
      held += BigInt(split(answers).claims.length) * HOLD;
      expect(held).toBeLessThanOrEqual(balanceNano + HOLD);
      if (split(answers).claims.length === 0) break;
    }
    expect(held).toBeGreaterThanOrEqual(balanceNano);
    expect(await one.errors).toEqual([]);
  });
});
