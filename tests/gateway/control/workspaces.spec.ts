import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { ControlRefused } from '#lib/control/operations/refusal';
import { listAudit } from '#lib/control/operations/trail/operations';
import { visitWorkspace } from '#lib/control/operations/user/own';
import * as operations from '#lib/control/operations/workspace/operations';
import {
  createKey,
  createUser,
  createWorkspace,
  findWorkspace,
  operate,
  setKey,
  setWorkspace,
} from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

function newWorkspace(settings: Record<string, unknown> = {}) {
  return createWorkspace(db, { name: 'Labs', ...settings });
}

function refusalOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'not refused',
    (error: unknown) => {
      if (error instanceof ControlRefused) return error.message;
      throw error;
    },
  );
}

async function count(text: string, values: unknown[]): Promise<number> {
  return (await db.pool.query(text, values)).rows.length;
}

describe('creating a workspace (contract: limits/defaults)', () => {
  it('gives it 600 RPM, 4,000,000 TPM and 50 concurrent calls, in UTC, with nothing to spend', async () => {
    const { id, slug } = await newWorkspace({ name: 'Ünited Labs!' });
    expect(slug).toBe('uenited-labs');
    expect(await findWorkspace(db, slug)).toMatchObject({
      id,
      slug,
      name: 'Ünited Labs!',
      timeZone: 'UTC',
      balance: '0',
      credit: '0',
      held: '0',
      available: '0',
      rpm: 600,
      tpm: 4_000_000,
      concurrency: 50,
      keys: [],
    });
    expect(await count('SELECT 1 FROM audit WHERE workspace_id = $1', [id])).toBe(1);
    expect(await count('SELECT 1 FROM change WHERE subject = $1', [id])).toBe(1);
  });

  it('takes other limits, or none, a credit and a time zone', async () => {
    const { slug } = await newWorkspace({
      credit: '12.5',
      timeZone: 'America/New_York',
      rpm: 10,
      tpm: null,
      concurrency: null,
    });
    expect(await findWorkspace(db, slug)).toMatchObject({
      credit: '12.5',
      available: '12.5',
      timeZone: 'America/New_York',
      rpm: 10,
      tpm: null,
      concurrency: null,
    });
  });

  it('gives each its own slug, also when two are made at once', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => newWorkspace({ name: 'Twins' })));
    expect(made.map((one) => one.slug).sort()).toEqual(['twins', 'twins-2', 'twins-3', 'twins-4', 'twins-5']);
  });

  it('asks the database no more often when many have the name, and refuses the one after a thousand', async () => {
    await db.pool.query(
      `INSERT INTO workspace (id, slug, name, time_zone)
       SELECT gen_random_uuid(), 'crowd' || CASE WHEN n > 1 THEN '-' || n ELSE '' END, 'Crowd', 'UTC'
       FROM generate_series(1, 999) n`,
    );
    const statements = vi.spyOn(Client.prototype, 'query');
    expect((await newWorkspace({ name: 'Crowd' })).slug).toBe('crowd-1000');
    expect(statements.mock.calls.length).toBeLessThan(30);
    statements.mockRestore();
    await expect(newWorkspace({ name: 'Crowd' })).rejects.toMatchObject({ code: 'conflict', field: 'name' });
  });

  it.each([
    ['日本', 'workspace'],
    ['Models', 'models-workspace'],
    ['  --A  B--', 'a-b'],
  ])('makes a slug of %j that no console page has: %s', async (name, slug) => {
    expect((await newWorkspace({ name })).slug).toBe(slug);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['a limit of 0', { rpm: 0 }, /^rpm: /],
    ['a negative limit', { concurrency: -3 }, /^concurrency: /],
    ['an unknown time zone', { timeZone: 'Mars/Base' }, /^timeZone: must be an IANA time zone/],
    ['an offset as a time zone', { timeZone: '+02:00' }, /^timeZone: /],
    ['a negative credit', { credit: '-1' }, /^credit: must be 0 dollars or more/],
    ['more credit than can be counted', { credit: '9999999999' }, /^credit: an amount may be at most/],
    ['no name', { name: '' }, /^name: a name is required/],
  ])('refuses %s', async (_name, settings, message) => {
    expect(await refusalOf(newWorkspace(settings))).toMatch(message);
  });
});

describe('setting a workspace', () => {
  it('changes what is given, null removes, the slug stays', async () => {
    const { id, slug } = await newWorkspace();
    await setWorkspace(db, { workspace: slug, name: 'New', rpm: null, credit: '3' });
    expect(await findWorkspace(db, id)).toMatchObject({
      slug,
      name: 'New',
      rpm: null,
      tpm: 4_000_000,
      credit: '3',
    });
    const refused = setWorkspace(db, { workspace: slug, tpm: 0, name: 'Unchanged' });
    expect(await refusalOf(refused)).toMatch(/^tpm: /);
    expect(await findWorkspace(db, id)).toMatchObject({ name: 'New' });
  });

  it('suspends it and takes it back into service', async () => {
    const { id } = await newWorkspace();
    await setWorkspace(db, { workspace: id, suspended: true });
    expect(await findWorkspace(db, id)).toMatchObject({ suspended: true });
    await setWorkspace(db, { workspace: id, suspended: false });
    expect(await findWorkspace(db, id)).toMatchObject({ suspended: false });
  });

  it('suspends it with a reason and a contact, which the audit log has and which end with it', async () => {
    const { id } = await newWorkspace({ credit: '1' });
    const told = { suspendedReason: 'Unpaid invoice', suspendedContact: 'support@example.com' };
    expect(await refusalOf(setWorkspace(db, { workspace: id, ...told }))).toMatch(
      /^suspendedReason: .*not suspended/,
    );
    await setWorkspace(db, { workspace: id, suspended: true, ...told });
    expect(await findWorkspace(db, id)).toMatchObject({ ...told, refusing: { cause: 'suspended' } });
    await setWorkspace(db, { workspace: id, suspended: true, suspendedReason: 'Abuse' });
    expect(await findWorkspace(db, id)).toMatchObject({ ...told, suspendedReason: 'Abuse' });
    await setWorkspace(db, { workspace: id, suspended: false });
    const none = { suspendedReason: null, suspendedContact: null };
    expect(await findWorkspace(db, id)).toMatchObject({ suspended: false, ...none, refusing: null });
    const { rows } = await db.pool.query(
      `SELECT after->>'suspendedReason' AS reason FROM audit WHERE subject = $1 AND action = 'workspace.set' ORDER BY id`,
      [id],
    );
    expect(rows.map(({ reason }) => reason)).toEqual(['Unpaid invoice', 'Abuse', null]);
  });

  it('recalls leases when the credit is lowered, not when it is raised', async () => {
    const { id } = await newWorkspace({ credit: '5' });
    const recalls = () => count('SELECT 1 FROM change WHERE subject = $1', [`workspace:${id}`]);
    await setWorkspace(db, { workspace: id, credit: '6' });
    expect(await recalls()).toBe(0);
    await setWorkspace(db, { workspace: id, credit: '1' });
    expect(await recalls()).toBe(1);
  });
});

describe('a workspace', () => {
  it('is changed by its admins, but for its credit and its suspension, which are the operator’s', async () => {
    const { slug } = await newWorkspace();
    const user = { email: 'admin@example.com', password: 'long enough', workspace: slug, role: 'admin' };
    const { id: userId } = await createUser(db, user);
    const actor = { kind: 'user' as const, userId, operator: false, address: null };
    const set = (given: Record<string, unknown>) =>
      operate(db, operations.setWorkspace, { workspace: slug, ...given }, 'pepper', actor);
    expect(await set({ name: 'Ours', rpm: 5 })).toMatchObject({ name: 'Ours', rpm: 5 });
    await expect(set({ name: 'Rich', credit: '1000' })).rejects.toMatchObject({
      code: 'permission_denied',
      field: 'credit',
      message: expect.stringContaining('operator'),
    });
    await expect(set({ suspended: true })).rejects.toMatchObject({ code: 'permission_denied' });
    expect(await findWorkspace(db, slug)).toMatchObject({ name: 'Ours', credit: '0', suspended: false });
    await setWorkspace(db, { workspace: slug, suspended: true });
    await expect(set({ name: 'Still ours' })).rejects.toThrow('suspended');
  });

  it('appears on a page of all workspaces, found by a part of its name', async () => {
    for (const n of [1, 2, 3]) await newWorkspace({ name: `Paged ${n}` });
    const list = (page: Record<string, unknown>) =>
      operate(db, operations.listAllWorkspaces, { search: 'PAGED', ...page });
    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, after: first.next });
    const names = [...first.data, ...second.data].map(({ name }) => name);
    expect(names).toEqual(['Paged 3', 'Paged 2', 'Paged 1']);
    expect(second.next).toBeNull();
  });

  it('takes no slug that another one had before, by which the other is still found', async () => {
    const { id, slug } = await newWorkspace({ name: 'Moved' });
    const user = { email: 'moved@example.com', password: 'long enough', workspace: slug, role: 'viewer' };
    const { id: userId } = await createUser(db, user);
    await db.prisma.formerSlug.create({ data: { slug: 'before', workspaceId: id } });
    expect((await newWorkspace({ name: 'Before' })).slug).toBe('before-2');
    const visit = (userId: string) =>
      operate(db, visitWorkspace, { workspace: 'before' }, 'pepper', {
        kind: 'user',
        userId,
        operator: false,
        address: null,
      });
    expect(await visit(userId)).toMatchObject({ id, slug });
    await expect(visit(randomUUID())).rejects.toMatchObject({ code: 'not_found' });
    expect(await setWorkspace(db, { workspace: 'before', rpm: 7 })).toMatchObject({ id, slug, rpm: 7 });
  });

  it('has an audit log of its own: what changed and who changed it, page by page', async () => {
    const [one, other] = [await newWorkspace({ name: 'Trail' }), await newWorkspace({ name: 'Trail' })];
    await setWorkspace(db, { workspace: one.slug, rpm: 5 });
    await setWorkspace(db, { workspace: one.slug, rpm: 5 });
    await setWorkspace(db, { workspace: other.slug, rpm: 6 });
    await setWorkspace(db, { workspace: one.slug, credit: '7' });
    const list = (page: Record<string, unknown>) => operate(db, listAudit, { workspace: one.slug, ...page });
    const first = await list({ limit: 2 });
    expect(first.data).toEqual([
      {
        id: expect.any(String),
        at: expect.any(String),
        actor: 'test',
        action: 'workspace.set',
        subject: one.id,
        before: { credit: '0' },
        after: { credit: '7' },
        address: null,
        called: null,
      },
      expect.objectContaining({ before: { rpm: 600 }, after: { rpm: 5 } }),
    ]);
    const second = await list({ limit: 2, after: first.next });
    expect(second).toMatchObject({ data: [{ action: 'workspace.create', before: null }], next: null });
    expect((await list({ action: 'workspace.create' })).data).toHaveLength(1);
    expect((await list({ from: new Date(Date.now() + 60_000).toISOString() })).data).toEqual([]);
    expect((await list({ to: new Date(Date.now() - 3_600_000).toISOString() })).data).toEqual([]);
    // A row has what a change made different, which a name mostly is not.
    const { id } = await createKey(db, { workspace: one.slug, name: 'web' });
    await setKey(db, { id, rpm: 7 });
    expect((await list({ action: 'key.set' })).data).toMatchObject([{ called: 'web', after: { rpm: 7 } }]);
  });
});
