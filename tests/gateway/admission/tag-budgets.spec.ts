import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { type BoundTag, endUserName, tagIdOf } from '#lib/core/facts/tags';
import { makeWorkspace, type Node, requestOf, startNode } from '#tests/support/admission';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const DOLLAR = 1_000_000_000n;
const endUsers = 200;
let database: TestDatabase;
let nodes: readonly Node[];

beforeAll(async () => {
  database = await createDatabase();
  nodes = [await startNode(database.url), await startNode(database.url), await startNode(database.url)];
});

afterAll(async () => {
  for (const node of nodes) await node.stop();
  await database.drop();
});

it('a dollar a day for each end user is held by three processes together: one call crosses it (contract: tags/spend)', async () => {
  const [first] = nodes;
  if (!first) throw new Error('there is no process');
  const snapshot = await makeWorkspace(first.db, { balanceNano: 10_000n * DOLLAR });
  const tagOf = (value: string): BoundTag => ({
    id: tagIdOf(snapshot.workspace.id, { name: endUserName, value }),
    name: endUserName,
    value,
    caps: { dayNano: DOLLAR, d7Nano: null, d30Nano: null },
    limits: { rpm: null, tpm: null, concurrency: null },
  });
  const hold = (6n * DOLLAR) / 10n;
  const answers = await Promise.all(
    Array.from({ length: endUsers * 3 }, async (_, at) => {
      const user = `user-${at % endUsers}`;
      const node = nodes[Math.floor(at / endUsers)] ?? first;
      const answer = await node.coordinator.claim(requestOf(snapshot, hold, { tags: [tagOf(user)] }));
      return { user, refused: isRefusal(answer) ? answer : null };
    }),
  );
  const admitted = new Map<string, number>();
  for (const { user, refused } of answers) {
    if (refused === null) admitted.set(user, (admitted.get(user) ?? 0) + 1);
    else expect(refused).toMatchObject({ code: 'day_limit_reached', shouldRetry: true });
  }
  expect([...admitted.values()].filter((calls) => calls === 2)).toHaveLength(endUsers);
});
