import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findManagementKey } from '#lib/control/operations/management-key/authenticate';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { listMembers } from '#lib/control/operations/member/operations';
import { listOwnWorkspaces } from '#lib/control/operations/user/own';
import { loadKey } from '#lib/gateway/snapshot/load';
import { type Db, openDb } from '#lib/platform/data/db';
import { hashKey } from '#lib/platform/secrets';
import {
  addMember,
  createKeyAs,
  createUser,
  createWorkspace,
  operate,
  removeMember,
  setMember,
} from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
let people: readonly [Person, Person];
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  people = [await newUser(), await newUser()];
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

type Person = Awaited<ReturnType<typeof newUser>>;
let users = 0;
function newUser() {
  return createUser(db, { email: `user${++users}@example.com`, password: 'long enough' });
}

/** A workspace with an owner and another member. */
async function newWorkspace(role = 'developer', [owner, other] = people) {
  const { id, slug } = await createWorkspace(db, { name: 'Members' });
  await addMember(db, { workspace: slug, email: owner.email, role: 'owner' });
  await addMember(db, { workspace: slug, email: other.email.toUpperCase(), role }, owner.id);
  return { id, slug, owner, other };
}

const as = (userId: string) => ({ kind: 'user' as const, userId, operator: false, address: null });

describe('members of a workspace (contract: control-plane/members)', () => {
  it('are ranked by what their keys spent this month (contract: control-plane/sorting)', async () => {
    const { id, slug, owner, other } = await newWorkspace();
    const spend = async (userId: string, nano: number, at: string) => {
      const { id: key } = await createKeyAs(db, userId, { workspace: slug, name: 'spends' });
      await db.pool.query(
        `INSERT INTO usage_quarter (workspace_id, quarter, key_id, model, provider, calls, cost_nano)
         VALUES ($1, date_bin('15 minutes', ${at}, '2000-01-01Z'), $2, 'm', 'p', 1, $3)`,
        [id, key, nano],
      );
    };
    await spend(other.id, 5, 'now()');
    await spend(owner.id, 4, 'now()');
    await spend(owner.id, 900, "now() - interval '32 days'");
    const idsBy = async (sort: string, more = {}) =>
      (await operate(db, listMembers, { workspace: slug, sort, ...more })).data.map((one) => one.id);
    expect(await idsBy('-spend')).toEqual([other.id, owner.id]);
    expect(await idsBy('spend')).toEqual([owner.id, other.id]);
    expect(await idsBy('-spend', { search: owner.email })).toEqual([owner.id]);
  });

  it('are added by the address of a known user, once, and listed with their roles', async () => {
    const { slug, owner, other } = await newWorkspace();
    const again = addMember(db, { workspace: slug, email: other.email, role: 'viewer' });
    await expect(again).rejects.toThrow('already a member');
    const absent = addMember(db, { workspace: slug, email: 'no@example.com', role: 'viewer' });
    await expect(absent).rejects.toThrow('no user no@example.com');
    const first = await operate(db, listMembers, { workspace: slug, limit: 1 });
    const second = await operate(db, listMembers, { workspace: slug, limit: 1, after: first.next });
    expect([...first.data, ...second.data]).toMatchObject([
      { id: owner.id, email: owner.email, role: 'owner' },
      { id: other.id, email: other.email, role: 'developer' },
    ]);
    expect(second.next).toBeNull();
  });

  it('belong to as many workspaces as take them in', async () => {
    const others = [await newUser(), await newUser()] as const;
    const [one, two] = [await newWorkspace('developer', others), await newWorkspace()];
    await addMember(db, { workspace: two.slug, email: one.other.email, role: 'viewer' });
    const { data } = await operate(db, listOwnWorkspaces, {}, 'pepper', as(one.other.id));
    expect(data.map(({ slug, role }) => [slug, role]).sort()).toEqual(
      [
        [one.slug, 'developer'],
        [two.slug, 'viewer'],
      ].sort(),
    );
  });

  it('are found by id or by address, and by neither in another workspace', async () => {
    const others = [await newUser(), await newUser()] as const;
    const [here, there] = [await newWorkspace(), await newWorkspace('developer', others)];
    const set = (member: string) => setMember(db, { workspace: here.slug, member, role: 'viewer' });
    expect(await set(here.other.id)).toMatchObject({ email: here.other.email, role: 'viewer' });
    expect(await set(` ${here.other.email.toUpperCase()} `)).toMatchObject({ id: here.other.id });
    for (const member of [there.other.id, there.other.email, 'nobody'])
      await expect(set(member)).rejects.toThrow('no member');
  });

  it('are owners by the word of owners alone', async () => {
    const { slug, owner, other } = await newWorkspace('admin');
    const third = await newUser();
    const asAdmin = [
      addMember(db, { workspace: slug, email: third.email, role: 'owner' }, other.id),
      setMember(db, { workspace: slug, member: other.id, role: 'owner' }, other.id),
      setMember(db, { workspace: slug, member: owner.id, role: 'viewer' }, other.id),
      removeMember(db, { workspace: slug, member: owner.id }, other.id),
    ];
    for (const one of await Promise.allSettled(asAdmin))
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'permission_denied' } });
    await addMember(db, { workspace: slug, email: third.email, role: 'admin' }, other.id);
    await setMember(db, { workspace: slug, member: third.email, role: 'owner' }, owner.id);
  });

  it('keep at least one owner among them, also when all of them leave at once', async () => {
    const { slug, owner, other } = await newWorkspace();
    const leave = (member: string) => removeMember(db, { workspace: slug, member });
    await expect(leave(owner.id)).rejects.toThrow('at least one owner');
    const lower = setMember(db, { workspace: slug, member: owner.id, role: 'viewer' });
    await expect(lower).rejects.toThrow('at least one owner');
    await setMember(db, { workspace: slug, member: other.id, role: 'owner' });
    const left = await Promise.allSettled([leave(owner.id), leave(other.id)]);
    expect(left.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('cannot remove each other at once: who was removed first no longer may', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { slug, owner, other } = await newWorkspace();
      await setMember(db, { workspace: slug, member: other.id, role: 'owner' });
      const ended = await Promise.allSettled([
        removeMember(db, { workspace: slug, member: other.id }, owner.id),
        removeMember(db, { workspace: slug, member: owner.id }, other.id),
      ]);
      expect(ended.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
      const refused = ended.find((one) => one.status === 'rejected');
      expect(refused).toMatchObject({ reason: { code: 'not_found', field: 'workspace' } });
    }
  });

  it('make no key that outlives them when they are removed while they make it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, slug, other } = await newWorkspace();
      await Promise.allSettled([
        removeMember(db, { workspace: slug, member: other.id }),
        createKeyAs(db, other.id, { workspace: slug, name: 'late' }),
      ]);
      const keys = await db.prisma.apiKey.findMany({ where: { workspaceId: id } });
      expect(keys.filter((key) => key.createdBy === null)).toEqual([]);
    }
  });

  it('disable the keys that they made when they leave, in every process', async () => {
    const { id, slug, owner, other } = await newWorkspace();
    const { key } = await createKeyAs(db, other.id, { workspace: slug, name: 'theirs' });
    const changes = async () =>
      (await db.pool.query('SELECT 1 FROM change WHERE subject = $1', [id])).rows.length;
    const before = await changes();
    await removeMember(db, { workspace: slug, member: other.id }, owner.id);
    expect(await changes()).toBe(before + 1);
    expect((await loadKey(db.pool, hashKey(key, 'pepper')))?.key.ownerRemoved).toBe(true);
    const twice = removeMember(db, { workspace: slug, member: other.id }, owner.id);
    await expect(twice).rejects.toThrow('no member');
  });

  it('lose the management keys that they could no longer make, for good', async () => {
    const { slug, owner, other } = await newWorkspace('admin');
    const make = async (role: string) => {
      const given = { workspace: slug, name: role, role };
      return (await operate(db, createManagementKey, given, 'pepper', as(other.id))).key;
    };
    const [admins, viewers] = [await make('admin'), await make('viewer')];
    const works = async (key: string) => (await findManagementKey(db, key, 'pepper', null)) !== null;
    await setMember(db, { workspace: slug, member: other.id, role: 'developer' }, owner.id);
    expect([await works(admins), await works(viewers)]).toEqual([false, true]);
    await removeMember(db, { workspace: slug, member: other.id }, owner.id);
    expect(await works(viewers)).toBe(false);
    await addMember(db, { workspace: slug, email: other.email, role: 'admin' }, owner.id);
    expect([await works(admins), await works(viewers)]).toEqual([false, false]);
  });
});
