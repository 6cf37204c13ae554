import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import type { Claim } from '#lib/gateway/admission/claim';
import { type Embedded, openEmbedded } from '#lib/platform/data/embedded';
import {
  makeWorkspace,
  moneyOf,
  type Node,
  requestOf,
  startNode,
  stillClock,
} from '#tests/support/admission';
import { embeddedDirectory } from '#tests/support/shared/embedded';

const HOLD = 1_000_000n;
let embedded: Embedded;
let one: Node;
let two: Node;

beforeAll(async () => {
  embedded = await openEmbedded(await embeddedDirectory('migrated'), 'server');
  one = await startNode(embedded.url, { clock: stillClock() });
  two = await startNode(embedded.url, { clock: stillClock() });
});

afterAll(async () => {
  await one.stop();
  await two.stop();
  await embedded.close();
});

describe('leases on the embedded database', () => {
  it('admit 10 and the crossing one of 200 parallel calls of two owners', async () => {
    const snapshot = await makeWorkspace(one.db, {
      balanceNano: 10n * HOLD + 1n,
      caps: { dayNano: 50n * HOLD },
    });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 ? one : two).coordinator.claim(requestOf(snapshot, HOLD))),
    );
    expect(answers.filter((answer) => !isRefusal(answer))).toHaveLength(11);
    expect([...one.errors, ...two.errors]).toEqual([]);
  });

  it('are taken, recalled and given back', async () => {
    const snapshot = await makeWorkspace(one.db, { balanceNano: 1_000n * HOLD });
    const first = await one.coordinator.claim(requestOf(snapshot, HOLD));
    expect(first).toMatchObject({ funding: 'lease' });
    const { leased } = await moneyOf(one.db, snapshot.workspace.id);
    await one.db.pool.query('UPDATE workspace SET balance_nano = $2 WHERE id = $1', [
      snapshot.workspace.id,
      `${leased}`,
    ]);
    expect(await two.coordinator.claim(requestOf(snapshot, HOLD))).toMatchObject({ funding: 'row' });
    const claim = first as Claim;
    one.coordinator.release(claim, { atMs: Date.now(), chargeNano: 0n, tokens: null });
    one.coordinator.recall('workspace', snapshot.workspace.id);
    await expect.poll(() => moneyOf(one.db, snapshot.workspace.id)).toMatchObject({ leased: 0n, rows: HOLD });
  });
});
