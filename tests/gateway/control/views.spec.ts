import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { logFields } from '#lib/control/operations/call/operations';
import { removeMember } from '#lib/control/operations/member/operations';
import { ask } from '#lib/control/operations/run';
import { createView, deleteView, listViews, renameView } from '#lib/control/operations/view/operations';
import { mostViews, viewParameters } from '#lib/control/operations/view/settings';
import type { Role } from '#lib/core/role';
import { newRowId } from '#lib/platform/data/row-id';
import { controlHost, createWorkspace } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const host = controlHost(db);
const operator = { kind: 'operator', name: 'test', address: null } as const;

async function place() {
  const { id, slug } = await createWorkspace(db, { name: 'Views' });
  const member = async (role: Role) => {
    const userId = randomUUID();
    const email = `${userId}@example.com`;
    await db.prisma.user.create({ data: { id: userId, email, name: role } });
    await db.prisma.member.create({ data: { workspaceId: id, userId, role } });
    const actor = { kind: 'user', userId, operator: false, address: null } as const;
    const asked = (input: object) => ({ actor, workspace: slug, input });
    return {
      userId,
      email,
      save: (name: string, more: object = {}) =>
        ask(host, createView, asked({ page: 'logs', query: 'status=5xx', name, ...more })),
      rename: (view: string, name: string) => ask(host, renameView, asked({ id: view, name })),
      remove: (view: string) => ask(host, deleteView, asked({ id: view })),
      names: async (input: object = {}) =>
        (await ask(host, listViews, asked(input))).data.map(({ name }) => name),
      list: async () => (await ask(host, listViews, asked({}))).data,
    };
  };
  return { id, slug, member };
}

describe('saved views (contract: control-plane/saved-views)', () => {
  it('are seen by their author, and by every member if they are shared', async () => {
    const { member } = await place();
    const [ann, bob, viewer] = [await member('developer'), await member('developer'), await member('viewer')];
    await ann.save('mine');
    await ann.save('Ours', { shared: true, page: 'usage', query: 'by=key' });
    expect(await ann.names()).toEqual(['mine', 'Ours']);
    expect(await bob.names()).toEqual(['Ours']);
    expect(await ann.names({ page: 'logs' })).toEqual(['mine']);
    const [seen] = await viewer.list();
    expect(seen).toMatchObject({ name: 'Ours', own: false, editable: false, author: { name: 'developer' } });
  });

  it('are renamed and deleted by their author, shared ones also by admins', async () => {
    const { member } = await place();
    const [ann, bob, admin] = [await member('developer'), await member('developer'), await member('admin')];
    const own = await ann.save('mine');
    const shared = await ann.save('ours', { shared: true });
    await expect(bob.rename(own.id, 'his')).rejects.toMatchObject({ code: 'not_found' });
    await expect(admin.remove(own.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(bob.remove(shared.id)).rejects.toMatchObject({ code: 'permission_denied' });
    expect((await ann.rename(own.id, 'still mine')).name).toBe('still mine');
    expect((await admin.rename(shared.id, 'theirs')).editable).toBe(true);
    await admin.remove(shared.id);
    await ann.remove(own.id);
    expect(await ann.names()).toEqual([]);
  });

  it('have a name that is unique among those of a user, also when two are saved at once', async () => {
    const { member } = await place();
    const [ann, bob] = [await member('developer'), await member('developer')];
    const both = await Promise.allSettled([ann.save('same'), ann.save('same', { page: 'usage', query: '' })]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await bob.save('same');
    const other = await ann.save('other');
    await expect(ann.rename(other.id, 'same')).rejects.toMatchObject({ code: 'conflict', field: 'name' });
    expect((await ann.rename(other.id, 'other')).name).toBe('other');
  });

  it(`are at most ${mostViews} in a workspace, however many are saved at once`, async () => {
    const { id: workspaceId, member } = await place();
    const ann = await member('developer');
    const data = Array.from({ length: mostViews - 1 }, (_, at) => ({
      ...{ id: newRowId(), workspaceId, ownerId: ann.userId, page: 'logs', query: '', shared: false },
      name: `view ${at}`,
    }));
    await db.prisma.savedView.createMany({ data });
    const tries = await Promise.allSettled(['a', 'b', 'c'].map((name) => ann.save(name)));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await db.prisma.savedView.count({ where: { workspaceId } })).toBe(mostViews);
  });

  it('store the parameters of their page, and refuse any other', async () => {
    const { member } = await place();
    const ann = await member('developer');
    expect((await ann.save('a', { query: '?status=5xx&model=&sort=-cost&columns=cost.key' })).query).toBe(
      'status=5xx&sort=-cost&columns=cost.key',
    );
    for (const query of ['after=x', 'callback=https://example.com', 'javascript:alert(1)'])
      await expect(ann.save('b', { query }), query).rejects.toMatchObject({
        code: 'invalid_body',
        field: 'query',
      });
    expect(viewParameters.logs).toEqual(expect.arrayContaining(Object.keys(logFields)));
  });

  it('of another workspace do not exist', async () => {
    const [one, other] = [await place(), await place()];
    const theirs = await (await other.member('owner')).save('theirs', { shared: true });
    const owner = await one.member('owner');
    await expect(owner.rename(theirs.id, 'x')).rejects.toMatchObject({ code: 'not_found' });
    await expect(owner.remove(theirs.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await owner.names()).toEqual([]);
  });

  it('of a removed member end if they were private, and stay if they were shared', async () => {
    const { slug, member } = await place();
    const [ann, bob] = [await member('developer'), await member('developer')];
    await ann.save('mine');
    await ann.save('ours', { shared: true });
    await ask(host, removeMember, { actor: operator, workspace: slug, input: { member: ann.email } });
    expect(await bob.names()).toEqual(['ours']);
    expect(await db.prisma.savedView.count({ where: { ownerId: ann.userId } })).toBe(1);
  });

  it('of the command line are shared', async () => {
    const { slug, member } = await place();
    const asked = (input: object) => ({ actor: operator, workspace: slug, input });
    await ask(host, createView, asked({ page: 'usage', name: 'from the command line' }));
    expect(await (await member('viewer')).names()).toEqual(['from the command line']);
    const own = ask(host, createView, asked({ page: 'usage', name: 'b', shared: false }));
    await expect(own).rejects.toMatchObject({ code: 'invalid_body', field: 'shared' });
  });
});
