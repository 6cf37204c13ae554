import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Db, openDb } from '#lib/data/db';
import { hashKey } from '#lib/secrets';
import { loadKey } from '#lib/snapshot/load';
import { addMember, removeMember, setMember } from '#lib/verbs/member';
import { createUser } from '#lib/verbs/user';
import { createWorkspace } from '#lib/verbs/workspace';
import { createKeyAs } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

let users = 0;
function newUser() {
  return createUser(db, 'test', { email: `user${++users}@example.com`, password: 'long enough' });
}

async function newWorkspace() {
  const [owner, other] = await Promise.all([newUser(), newUser()]);
  const { id, slug } = await createWorkspace(db, owner.id, { name: 'Members', ownerId: owner.id });
  await addMember(db, owner.id, { workspace: slug, email: other.email.toUpperCase(), role: 'developer' });
  return { id, slug, owner, other };
}

describe('members of a workspace', () => {
  it('are added by the address of a known user, once', async () => {
    const { slug, owner, other } = await newWorkspace();
    const again = addMember(db, owner.id, { workspace: slug, email: other.email, role: 'viewer' });
    await expect(again).rejects.toThrow('member already');
    const absent = addMember(db, owner.id, { workspace: slug, email: 'no@example.com', role: 'viewer' });
    await expect(absent).rejects.toThrow('no user no@example.com');
  });

  it('keep at least one owner among them', async () => {
    const { slug, owner, other } = await newWorkspace();
    const leave = (userId: string) => removeMember(db, owner.id, { workspace: slug, userId });
    await expect(leave(owner.id)).rejects.toThrow('at least one owner');
    const lower = setMember(db, owner.id, { workspace: slug, userId: owner.id, role: 'viewer' });
    await expect(lower).rejects.toThrow('at least one owner');
    await setMember(db, owner.id, { workspace: slug, userId: other.id, role: 'owner' });
    const left = await Promise.allSettled([leave(owner.id), leave(other.id)]);
    expect(left.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('take the keys that they made out of service when they leave, and every process learns of it', async () => {
    const { id, slug, owner, other } = await newWorkspace();
    const { key } = await createKeyAs(db, other.id, { workspace: slug, name: 'theirs' });
    const changes = async () =>
      (await db.pool.query('SELECT 1 FROM change WHERE subject = $1', [id])).rows.length;
    const before = await changes();
    await removeMember(db, owner.id, { workspace: slug, userId: other.id });
    expect(await changes()).toBe(before + 1);
    expect((await loadKey(db.pool, hashKey(key, 'pepper')))?.key.ownerRemoved).toBe(true);
    const twice = removeMember(db, owner.id, { workspace: slug, userId: other.id });
    await expect(twice).rejects.toThrow('no member');
  });
});
