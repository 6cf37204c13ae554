import { expect, it } from 'vitest';
import { showUsage } from '#lib/control/operations/usage/operations';
import { settle } from '#lib/gateway/settlement/settle';
import { createUser, operate } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';
import { addKey, callOf, closeOf, createCustomer, newId } from '#tests/support/settlement';

const db = await openOwnDatabase();

async function newUser(name: string | null) {
  const email = `${newId()}@example.com`;
  const { id } = await createUser(db, { email, password: 'long enough' });
  await db.prisma.user.update({ where: { id }, data: { name } });
  return { id, email };
}

/** A workspace with a key of each maker; each key's call costs ten times that of the one before. */
async function newWorkspace(makers: readonly (string | null)[]) {
  const { workspaceId } = await createCustomer(db.pool);
  for (const [at, maker] of makers.entries()) {
    const keyId = newId();
    await addKey(db.pool, workspaceId, keyId, null);
    await db.pool.query('UPDATE api_key SET created_by = $1 WHERE id = $2', [maker, keyId]);
    const call = callOf({ workspaceId, keyId }, { costNano: BigInt(10 ** at) * 1_000_000_000n });
    await settle(db.pool, newId(), [closeOf(call, 'none')]);
  }
  return `w-${workspaceId}`;
}

it('usage by member adds up the keys that each of them made, in one workspace (contract: operations/usage)', async () => {
  const [ann, bob] = [await newUser('Ann'), await newUser(null)];
  const slug = await newWorkspace([ann.id, bob.id, ann.id, null]);
  await newWorkspace([ann.id]);
  const usage = async (more: Record<string, unknown> = {}) => {
    const { rows, cost } = await operate(db, showUsage, { workspace: slug, by: 'member', ...more });
    return {
      cost,
      rows: rows.map(({ member, name, cost: spent, calls }) => ({ member, name, spent, calls })),
    };
  };
  expect(await usage()).toEqual({
    cost: '1111',
    rows: [
      { member: '', name: null, spent: '1000', calls: 1 },
      { member: ann.id, name: 'Ann', spent: '101', calls: 2 },
      { member: bob.id, name: bob.email, spent: '10', calls: 1 },
    ],
  });
  expect(await usage({ member: ann.id })).toMatchObject({ cost: '101', rows: [{ member: ann.id }] });
  expect(await usage({ member: newId() })).toEqual({ cost: '0', rows: [] });
});
