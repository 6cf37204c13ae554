import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findManagementKey } from '#lib/control/operations/management-key/authenticate';
import { createManagementKey, listManagementKeys } from '#lib/control/operations/management-key/operations';
import { listActors } from '#lib/control/operations/trail/actors';
import { listAudit } from '#lib/control/operations/trail/operations';
import { showLimits } from '#lib/control/operations/workspace/limits';
import { renameWorkspace } from '#lib/control/operations/workspace/rename';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import {
  addMember,
  createUser,
  createWorkspace,
  findWorkspace,
  operate,
} from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const rename = (workspace: string, slug: string) => operate(db, renameWorkspace, { workspace, slug });
const fresh = () => `s-${randomUUID().slice(0, 8)}`;

describe('a renamed workspace (contract: control-plane/others)', () => {
  it('is found by each slug that it had, and takes one of them back', async () => {
    const { id, slug } = await createWorkspace(db, { name: 'Renamed' });
    const [one, two] = [fresh(), fresh()];
    await rename(slug, one);
    await rename(one, two);
    for (const named of [slug, one, two])
      expect(await findWorkspace(db, named)).toMatchObject({ id, slug: two });
    expect(await rename(two, slug)).toEqual({ id, slug });
    expect(await findWorkspace(db, two)).toMatchObject({ id, slug });
  });

  it('takes no slug of another one, of today or of before, and no address of the console', async () => {
    const [mine, theirs] = [
      await createWorkspace(db, { name: 'M' }),
      await createWorkspace(db, { name: 'T' }),
    ];
    const moved = fresh();
    await rename(theirs.slug, moved);
    for (const slug of [theirs.slug, moved])
      expect(await refusalOf(rename(mine.slug, slug))).toContain('has or had this slug');
    expect(await refusalOf(rename(mine.slug, 'settings'))).toBe('not refused');
    for (const slug of ['api', 'invite', 'v1'])
      expect(await refusalOf(rename('settings', slug))).toContain('choose another');
    for (const slug of ['A', '-ab', 'a b', 'ä', 'x'.repeat(51)])
      expect(await refusalOf(rename('settings', slug))).toContain('lower-case letters');
  });

  it('keeps at most 20 former slugs, so that no one takes them all', async () => {
    const { slug } = await createWorkspace(db, { name: 'Mover' });
    const given = {
      email: `${fresh()}@example.com`,
      password: 'long enough',
      workspace: slug,
      role: 'admin',
    };
    const { id: userId } = await createUser(db, given);
    const actor = { kind: 'user', userId, operator: false, address: null } as const;
    const move = (to: string) =>
      operate(db, renameWorkspace, { workspace: slug, slug: to }, undefined, actor);
    for (let n = 0; n < 20; n++) await move(fresh());
    expect(await refusalOf(move(fresh()))).toContain('at most 20 former slugs');
    expect(await move(slug)).toMatchObject({ slug });
    expect(await rename(slug, fresh())).toMatchObject({ slug: expect.any(String) });
  });

  it('gets a slug that two want at once for one of them, and one that is given up stays with its owner', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [a, b] = [await createWorkspace(db, { name: 'A' }), await createWorkspace(db, { name: 'B' })];
      const wanted = fresh();
      const ended = await Promise.allSettled([rename(a.slug, wanted), rename(b.slug, wanted)]);
      expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const [c, d] = [await createWorkspace(db, { name: 'C' }), await createWorkspace(db, { name: 'D' })];
      await Promise.allSettled([rename(c.slug, fresh()), rename(d.slug, c.slug)]);
      expect(await findWorkspace(db, c.slug)).toMatchObject({ id: c.id });
    }
  });
});

describe('the limits of a workspace', () => {
  it('stand beside what each of them refused last', async () => {
    const { id, slug } = await createWorkspace(db, { name: 'Limits', rpm: 5 });
    const refuse = (n: number, code: string) =>
      db.pool.query(
        `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, error_code, streamed, latency_ms,
           overhead_ms, end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano)
         VALUES ($1, now() + make_interval(secs => $2), $3, $3, 'chat', 'chat.create', 429, $4, false, 1, 1, 'refused',
           'none', '{}', '{}', '[]', '[]', 0, 0, 0)`,
        [`0199${String(n).padStart(4, '0')}-0000-7000-8000-${randomUUID().slice(-12)}`, n, id, code],
      );
    for (const [n, code] of [
      'workspace_rpm_exceeded',
      'workspace_tpm_exceeded',
      'workspace_rpm_exceeded',
    ].entries())
      await refuse(n, code);
    await refuse(3, 'api_key_rpm_exceeded');
    const { requests, refusals } = await operate(db, showLimits, { workspace: slug });
    expect(requests).toEqual({ used: 0, limit: 5 });
    expect(refusals.map(({ code }) => code)).toEqual(['workspace_rpm_exceeded', 'workspace_tpm_exceeded']);
  });
});

describe('a management key', () => {
  it('tells who made it, and when it was used last, to the minute', async () => {
    const { slug } = await createWorkspace(db, { name: 'Keys' });
    const user = await createUser(db, { email: `${randomUUID()}@example.com`, password: 'long enough' });
    await addMember(db, { workspace: slug, email: user.email, role: 'owner' });
    const actor = { kind: 'user' as const, userId: user.id, operator: false, address: null };
    const given = { workspace: slug, name: 'ci', role: 'viewer' };
    const { key } = await operate(db, createManagementKey, given, 'pepper', actor);
    const listed = async () => (await operate(db, listManagementKeys, { workspace: slug })).data[0];
    expect(await listed()).toMatchObject({ madeBy: user.email, lastUsedAt: null });
    await findManagementKey(db, key, 'pepper', null);
    await expect.poll(async () => (await listed())?.lastUsedAt ?? null).not.toBeNull();
    const first = (await listed())?.lastUsedAt;
    await findManagementKey(db, key, 'pepper', null);
    expect((await listed())?.lastUsedAt).toBe(first);
  });
});

describe('the audit log (contract: control-plane/audit)', () => {
  it('names who is gone and keys by their names, and no operator to those of a workspace', async () => {
    const { slug } = await createWorkspace(db, { name: 'Trail' });
    const [gone, operator] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
    const make = async (email: string, asOperator: boolean) => {
      const { id } = await createUser(db, { email, password: 'long enough', operator: asOperator });
      return { kind: 'user' as const, userId: id, operator: asOperator, address: null };
    };
    const [left, runs] = [await make(gone, false), await make(operator, true)];
    await addMember(db, { workspace: slug, email: gone, role: 'owner' });
    const key = { workspace: slug, name: 'terraform', role: 'viewer' };
    const { id } = await operate(db, createManagementKey, key, 'pepper', left);
    await operate(db, createManagementKey, key, 'pepper', runs);
    await db.prisma.member.deleteMany({ where: { userId: left.userId } });
    const { data } = await operate(db, listActors, { workspace: slug });
    expect(data.map(({ name }) => name).sort()).toEqual(['An operator', gone, 'The test'].sort());
    expect(data.find(({ actor }) => actor === left.userId)?.name).toBe(gone);
    const rows = await operate(db, listAudit, { workspace: slug, actor: left.userId });
    expect(rows.data).toMatchObject([{ action: 'management-key.create', subject: id }]);
  });
});
