import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Claim, Posted } from '#lib/admission/claim';
import { isRefusal } from '#lib/errors';
import { makeWorkspace, moneyOf, type Node, requestOf, startNode } from '#tests/support/admission';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const LARGEST = 1_000n;
let database: TestDatabase;
let nodes: Node[];
let waiting: Posted[][];

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
  readonly parallel?: number;
  readonly share?: bigint;
  readonly count?: number;
};

/** Runs a schedule on a workspace of its own. Charges never pass their holds, so neither may spend. */
async function run(balanceNano: bigint, capNano: bigint | null, steps: readonly Step[]): Promise<void> {
  const [first, second] = nodes;
  if (!first || !second) throw new Error('two nodes were started');
  const snapshot = await makeWorkspace(first.db, { balanceNano, caps: { d7Nano: capNano } });
  const workspaceId = snapshot.workspace.id;
  const open: Claim[][] = [[], []];
  let charged = 0n;
  let held = 0n;
  const end = (index: number, claim: Claim, chargeNano: bigint) => {
    nodes[index]?.coordinator.release(claim, { atMs: Date.now(), chargeNano, tokens: null });
    waiting[index]?.push({
      callId: claim.callId,
      workspaceId,
      keyId: claim.keyId,
      funding: claim.funding,
      chargeNano,
    });
    charged += chargeNano;
    held -= claim.holdNano;
  };
  for (const one of steps) {
    const node = nodes[one.node];
    const mine = open[one.node];
    if (!node || !mine) continue;
    if (one.kind === 'claim') {
      const hold = one.hold ?? 1n;
      const answers = await Promise.all(
        Array.from({ length: one.parallel ?? 1 }, () => node.coordinator.claim(requestOf(snapshot, hold))),
      );
      const claims = answers.filter((answer): answer is Claim => !isRefusal(answer));
      mine.push(...claims);
      held += BigInt(claims.length) * hold;
      // The one that crosses is the last that is admitted, and calls end below their holds.
      expect(charged + held).toBeLessThan(balanceNano + LARGEST);
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
  for (const node of nodes) expect(node.errors).toEqual([]);
}

describe('money under any schedule of two processes', () => {
  it('is never promised twice, and all of it is free again when the calls are posted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt(1n, 100_000n),
        fc.option(fc.bigInt(1n, 60_000n)),
        fc.array(step, { minLength: 5, maxLength: 25 }),
        run,
      ),
      { numRuns: 25 },
    );
  });
});
