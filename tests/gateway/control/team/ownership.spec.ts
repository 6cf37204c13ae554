import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { listLedger } from '#lib/control/operations/ledger/operations';
import { findManagementKey } from '#lib/control/operations/management-key/authenticate';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { whatStops } from '#lib/control/operations/member/keys';
import { leaveWorkspace, transferOwnership } from '#lib/control/operations/member/own';
import { operations } from '#lib/control/operations/operations';
import { ask, runAny } from '#lib/control/operations/run';
import { listOwnWorkspaces, visitWorkspace } from '#lib/control/operations/user/own';
import { deleteWorkspace, showDeletion } from '#lib/control/operations/workspace/delete';
import { openWorkspace } from '#lib/control/operations/workspace/open-workspace';
import { loadKey } from '#lib/gateway/snapshot/load';
import { hashKey } from '#lib/platform/secrets';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import {
  addCredit,
  addMember,
  controlHost,
  createKeyAs,
  createUser,
  createWorkspace,
  operate,
  removeMember,
  setMember,
} from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
let people: readonly [Person, Person];
beforeAll(async () => {
  people = [await newUser(), await newUser()];
});

type Person = Awaited<ReturnType<typeof newUser>>;
let users = 0;
const newUser = () => createUser(db, { email: `own${++users}@example.com`, password: 'long enough' });
const operator = { kind: 'operator', name: 'test', address: null } as const;
const as = (userId: string) => ({ kind: 'user' as const, userId, operator: false, address: null });

async function newWorkspace(role = 'owner') {
  const [owner, other] = people;
  const { id, slug } = await createWorkspace(db, { name: 'Own' });
  await addMember(db, { workspace: slug, email: owner.email, role: 'owner' });
  await addMember(db, { workspace: slug, email: other.email, role }, owner.id);
  return { id, slug, owner, other };
}

const host = () => controlHost(db);
const leave = (workspace: string, userId: string) =>
  ask(host(), leaveWorkspace, { actor: as(userId), input: { workspace } });
const transfer = (workspace: string, userId: string, member: string) =>
  ask(host(), transferOwnership, { actor: as(userId), input: { workspace, member } });
const ownersOf = (workspaceId: string) => db.prisma.member.count({ where: { workspaceId, role: 'owner' } });

describe('owners (contract: control-plane/members)', () => {
  it('stay one at least when two demote each other at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, slug, owner, other } = await newWorkspace();
      const ended = await Promise.allSettled([
        setMember(db, { workspace: slug, member: other.id, role: 'viewer' }, owner.id),
        setMember(db, { workspace: slug, member: owner.id, role: 'viewer' }, other.id),
      ]);
      expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await ownersOf(id)).toBe(1);
    }
  });

  it('leave another one behind, also when all of them leave at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, slug, owner, other } = await newWorkspace();
      const left = await Promise.allSettled([leave(slug, owner.id), leave(slug, other.id)]);
      expect(left.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await ownersOf(id)).toBe(1);
    }
  });

  it('stay one at least when one hands over, demotes, removes and leaves at once, in ten rounds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, slug, owner, other } = await newWorkspace();
      const ended = await Promise.allSettled([
        transfer(slug, owner.id, other.id),
        setMember(db, { workspace: slug, member: owner.id, role: 'viewer' }, other.id),
        removeMember(db, { workspace: slug, member: other.id }, owner.id),
        leave(slug, other.id),
      ]);
      expect(ended.map(({ status }) => status)).toContain('fulfilled');
      expect(await ownersOf(id)).toBeGreaterThanOrEqual(1);
    }
  });

  it('hand a workspace over in one step and are admins afterwards, without the keys of owners', async () => {
    const { id, slug, owner, other } = await newWorkspace('viewer');
    const given = { workspace: slug, name: 'root', role: 'owner' };
    await operate(db, createManagementKey, given, 'pepper', as(owner.id));
    expect(await refusalOf(transfer(slug, other.id, owner.id))).toContain('requires the role owner');
    expect(await refusalOf(transfer(slug, owner.id, owner.id))).toContain('this is you');
    expect(await transfer(slug, owner.id, other.id)).toMatchObject({ id: other.id, role: 'owner' });
    expect(await ownersOf(id)).toBe(1);
    const active = { workspaceId: id, revokedAt: null };
    expect(await db.prisma.managementKey.count({ where: active })).toBe(0);
    const twice = await Promise.allSettled([transfer(slug, other.id, owner.id), leave(slug, other.id)]);
    expect(twice.map(({ status }) => status)).toContain('fulfilled');
    expect(await ownersOf(id)).toBe(1);
  });

  it('see which keys stop with a member, and which with a lower role', async () => {
    const { slug, owner, other } = await newWorkspace('admin');
    await createKeyAs(db, other.id, { workspace: slug, name: 'web' });
    const make = (role: string) =>
      operate(db, createManagementKey, { workspace: slug, name: role, role }, 'pepper', as(other.id));
    await make('admin');
    await make('viewer');
    const stops = (role?: string) =>
      operate(
        db,
        whatStops,
        { workspace: slug, member: other.id, ...(role ? { role } : {}) },
        'pepper',
        as(owner.id),
      );
    expect(await stops()).toMatchObject({
      apiKeys: 1,
      managementKeys: 2,
      stopping: [{ name: 'admin' }, { name: 'viewer' }, { name: 'web', kind: 'api-key' }],
    });
    expect(await stops('developer')).toMatchObject({ apiKeys: 0, stopping: [{ name: 'admin' }] });
  });
});

describe('whoever leaves a workspace', () => {
  it('opens it no more, and leaves none that they are not in', async () => {
    const { slug, other } = await newWorkspace('viewer');
    expect(await leave(slug, other.id)).toEqual({ slug });
    const { data } = await operate(db, listOwnWorkspaces, {}, 'pepper', as(other.id));
    expect(data.map((one) => one.slug)).not.toContain(slug);
    expect(await refusalOf(leave(slug, other.id))).toContain('no workspace');
  });
});

describe('workspaces that people make (contract: control-plane/own-workspaces)', () => {
  it('have whoever makes them as owner, and are 20 at most, however many are made at once', async () => {
    const { id } = await newUser();
    const open = () => ask(host(), openWorkspace, { actor: as(id), input: { name: 'Lab' } });
    const ended = await Promise.allSettled(Array.from({ length: 24 }, open));
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    expect(await refusalOf(open())).toContain('you already own 20 workspaces');
    const unverified = { ...as((await newUser()).id), unverified: true };
    const refused = ask(host(), openWorkspace, { actor: unverified, input: { name: 'Lab' } });
    expect(await refusalOf(refused)).toContain('verify your email');
  });
});

describe('a deleted workspace (contract: control-plane/deleted-workspace)', () => {
  const remove = (slug: string, userId: string, confirm = slug) =>
    operate(db, deleteWorkspace, { workspace: slug, confirm }, 'pepper', as(userId));

  it('is gone for everybody, its keys stop, and its books stay', async () => {
    const { id, slug, owner, other } = await newWorkspace('admin');
    const { key } = await createKeyAs(db, owner.id, { workspace: slug, name: 'web' });
    const made = { workspace: slug, name: 'ci', role: 'viewer' };
    const management = (await operate(db, createManagementKey, made)).key;
    await addCredit(db, { workspace: slug, amount: '7', reason: 'paid' });
    expect(await refusalOf(remove(slug, other.id))).toContain('requires the role owner');
    expect(await refusalOf(remove(slug, owner.id, 'typo'))).toContain('enter the slug');
    const lost = { balance: '7', apiKeys: 1, managementKeys: 1, members: 2, runningJobs: 0 };
    expect(await operate(db, showDeletion, { workspace: slug }, 'pepper', as(owner.id))).toMatchObject(lost);
    expect(await remove(slug, owner.id)).toMatchObject(lost);
    const snapshot = await loadKey(db.pool, hashKey(key, 'pepper'));
    expect(snapshot).toMatchObject({ key: { status: 'revoked' }, workspace: { suspended: true } });
    expect(await findManagementKey(db, management, 'pepper', null)).toBeNull();
    const open = operate(db, visitWorkspace, { workspace: slug }, 'pepper', as(owner.id));
    expect(await refusalOf(open)).toContain('no workspace');
    const back = addMember(db, { workspace: slug, email: owner.email, role: 'owner' });
    expect(await refusalOf(back)).toContain('is deleted');
    const next = await createWorkspace(db, { name: slug });
    expect(next.slug).not.toBe(slug);
    const { _sum } = await db.prisma.ledgerLine.aggregate({
      where: { workspaceId: id },
      _sum: { amountNano: true },
    });
    expect(_sum.amountNano).toBe(7_000_000_000n);
  });

  it('takes no change from anybody, operators included, who still read it', async () => {
    const { id, slug, owner } = await newWorkspace();
    const { id: keyId } = await createKeyAs(db, owner.id, { workspace: slug, name: 'web' });
    const given = { workspace: slug, name: 'ci', role: 'viewer' };
    const { id: managementId } = await operate(db, createManagementKey, given);
    await remove(slug, owner.id);
    const answers: string[] = [];
    for (const operation of operations) {
      const { name, kind, reach } = operation;
      if (kind === 'read' || !['workspace', 'subject'].includes(reach)) continue;
      const asked = { actor: operator, workspace: slug, input: { id: keyId, name: 'late' } };
      answers.push(`${name}: ${await refusalOf(runAny(host(), operation, asked))}`);
    }
    expect(answers.length).toBeGreaterThan(30);
    expect(answers.filter((answer) => !answer.includes('this workspace is deleted'))).toEqual([]);
    // By its id alone a key is found too: it was revoked, which is for good.
    const before = await db.prisma.apiKey.findUnique({ where: { id: keyId } });
    for (const operation of operations) {
      if (operation.kind === 'read' || operation.reach !== 'subject' || !/key\./.test(operation.name))
        continue;
      const input = { id: operation.name.startsWith('key.') ? keyId : managementId };
      await runAny(host(), operation, { actor: operator, workspace: undefined, input }).catch(() => null);
    }
    expect(await db.prisma.apiKey.findUnique({ where: { id: keyId } })).toEqual(before);
    expect(await db.prisma.apiKey.count({ where: { workspaceId: id } })).toBe(1);
    expect((await operate(db, listLedger, { workspace: slug })).data).toEqual([]);
  });

  it('keeps no key, member or webhook that comes while it is deleted, in ten rounds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, slug, owner, other } = await newWorkspace('admin');
      const made = { workspace: slug, name: 'late', role: 'viewer' };
      const late = await newUser();
      const [removed] = await Promise.allSettled([
        remove(slug, owner.id),
        createKeyAs(db, other.id, { workspace: slug, name: 'late' }),
        operate(db, createManagementKey, made, 'pepper', as(other.id)),
        addMember(db, { workspace: slug, email: late.email, role: 'viewer' }, other.id),
      ]);
      expect(removed.status).toBe('fulfilled');
      const of = { workspaceId: id };
      expect({
        keys: await db.prisma.apiKey.count({ where: { ...of, status: { not: 'revoked' } } }),
        management: await db.prisma.managementKey.count({ where: { ...of, revokedAt: null } }),
        members: await db.prisma.member.count({ where: of }),
      }).toEqual({ keys: 0, management: 0, members: 0 });
    }
  });

  it('has no running job left, and is deleted once', async () => {
    const { id, slug, owner } = await newWorkspace();
    const callId = randomUUID();
    await db.pool.query(
      `INSERT INTO job (call_id, workspace_id, key_id, family, kind, upstream_id, provider_id, model_id, upstream_model,
         offer_id, price_version_id, hold_nano, facts, state, created_at, flags)
       VALUES ($1, $2, $1, 'videos', 'video', 'v', 'p', 'm', 'm', $1, $1, 5, '{}', 'queued', now(), '{}')`,
      [callId, id],
    );
    expect(await refusalOf(remove(slug, owner.id))).toContain('a job is still running');
    await db.pool.query('UPDATE job SET settled_at = now() WHERE call_id = $1', [callId]);
    const ended = await Promise.allSettled([remove(slug, owner.id), remove(slug, owner.id)]);
    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const rows = { action: 'workspace.delete', workspaceId: id };
    expect(await db.prisma.audit.count({ where: rows })).toBe(1);
  });
});

describe('the audit log (contract: control-plane/audit)', () => {
  it('is append-only: the database refuses to change, delete or empty it', async () => {
    await newWorkspace();
    const statements = ["UPDATE audit SET actor = 'nobody'", 'DELETE FROM audit', 'TRUNCATE audit'];
    for (const statement of statements) await expect(db.pool.query(statement)).rejects.toThrow('append-only');
  });
});
