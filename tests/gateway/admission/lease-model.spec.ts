import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import type { Claim } from '#lib/gateway/admission/claim';
import {
  type Charged,
  makeWorkspace,
  moneyOf,
  type Node,
  requestOf,
  startNode,
} from '#tests/support/admission';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const LARGEST = 1_000n;
let database: TestDatabase;
let nodes: Node[];
let waiting: Charged[][];

beforeAll(async () => {
  database = await createDatabase();
  waiting = [[], []];
  nodes = await Promise.all(
    waiting.map((queue) => startNode(database.url, { flush: (self) => self.post(queue.splice(0)) })),
  );
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await database.drop();
});

const nodeIndex = fc.nat({ max: 1 });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('claim'),
      node: nodeIndex,
      hold: fc.bigInt(1n, LARGEST),
      simulated: fc.boolean(),
      parallel: fc.integer({ min: 1, max: 12 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('end'),
      node: nodeIndex,
      share: fc.bigInt(0n, 100n),
      count: fc.integer({ min: 1, max: 12 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('post'), node: nodeIndex }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('recall'), node: nodeIndex }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('maintain'), node: nodeIndex }) },
);
type Step = {
  readonly kind: string;
  readonly node: number;
  readonly hold?: bigint;
  readonly simulated?: boolean;
  readonly parallel?: number;
  readonly share?: bigint;
  readonly count?: number;
};

/**
 * Runs a schedule on a workspace of its own. Charges never pass their holds, so neither may spend.
 * @param simulatedNano of the balance, which calls at the simulated provider alone may spend.
 */
async function run(
  balanceNano: bigint,
  simulatedNano: bigint,
  capNano: bigint | null,
  steps: readonly Step[],
): Promise<void> {
  const [first, second] = nodes;
  if (!first || !second) throw new Error('two nodes were started');
  const snapshot = await makeWorkspace(first.db, { balanceNano, simulatedNano, caps: { d7Nano: capNano } });
  const workspaceId = snapshot.workspace.id;
  const open: Claim[][] = [[], []];
  let charged = 0n;
  let held = 0n;
  let [realCharged, realHeld] = [0n, 0n];
  const end = (index: number, claim: Claim, chargeNano: bigint) => {
    nodes[index]?.coordinator.release(claim, { atMs: Date.now(), chargeNano, tokens: null });
    waiting[index]?.push({
      callId: claim.callId,
      workspaceId,
      keyId: claim.keyId,
      funding: claim.funding,
      chargeNano,
      simulated: claim.simulated,
    });
    charged += chargeNano;
    held -= claim.holdNano;
    if (claim.simulated) return;
    realCharged += chargeNano;
    realHeld -= claim.holdNano;
  };
  for (const one of steps) {
    const node = nodes[one.node];
    const mine = open[one.node];
    if (!node || !mine) continue;
    if (one.kind === 'claim') {
      const hold = one.hold ?? 1n;
      const simulated = one.simulated === true;
      const answers = await Promise.all(
        Array.from({ length: one.parallel ?? 1 }, () =>
          node.coordinator.claim(requestOf(snapshot, hold, { simulated })),
        ),
      );
      const claims = answers.filter((answer): answer is Claim => !isRefusal(answer));
      mine.push(...claims);
      held += BigInt(claims.length) * hold;
      if (!simulated) realHeld += BigInt(claims.length) * hold;
      // The one that crosses is the last that is admitted, and calls end below their holds.
      expect(charged + held).toBeLessThan(balanceNano + LARGEST);
      expect(realCharged + realHeld).toBeLessThan(balanceNano - simulatedNano + LARGEST);
      if (capNano !== null) expect(charged + held).toBeLessThan(capNano + LARGEST);
    } else if (one.kind === 'end') {
      for (const claim of mine.splice(0, one.count))
        end(one.node, claim, (claim.holdNano * (one.share ?? 0n)) / 100n);
    } else if (one.kind === 'post') await node.post(waiting[one.node]?.splice(0) ?? []);
    else if (one.kind === 'recall') node.coordinator.recall('workspace', workspaceId);
    else await node.coordinator.maintain();
    expect((await moneyOf(first.db, workspaceId)).free).toBeGreaterThan(-LARGEST);
  }
  for (const [index, claims] of open.entries()) for (const claim of claims) end(index, claim, claim.holdNano);
  for (const [index, node] of nodes.entries()) {
    await node.post(waiting[index]?.splice(0) ?? []);
    for (const kind of ['workspace', 'key'] as const) {
      node.coordinator.recall(kind, kind === 'key' ? snapshot.key.id : workspaceId);
    }
  }
  await expect
    .poll(() => moneyOf(first.db, workspaceId))
    .toEqual({ free: balanceNano - charged, rows: 0n, leased: 0n });
  // Simulated money paid first, and for nothing else.
  const left = simulatedNano - (charged - realCharged);
  const found = await first.db.prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } });
  expect(found.simulatedNano).toBe(left > 0n ? left : 0n);
  for (const node of nodes) expect(node.errors).toEqual([]);
}

describe('money under any schedule of two processes', () => {
  it('is never promised twice, and all of it is free again when the calls are posted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt(1n, 100_000n),
        fc.option(fc.bigInt(1n, 60_000n)),
        fc.array(step, { minLength: 5, maxLength: 25 }),
        (balanceNano, capNano, steps) => run(balanceNano, 0n, capNano, steps),
      ),
      { numRuns: 25 },
    );
  });

  it('is never promised twice if a part is simulated, which real targets never spend (contract: money/simulated-money)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt(0n, 60_000n),
        fc.bigInt(1n, 60_000n),
        fc.array(step, { minLength: 5, maxLength: 25 }),
        (realNano, simulatedNano, steps) => run(realNano + simulatedNano, simulatedNano, null, steps),
      ),
      { numRuns: 40 },
    );
  });
});
