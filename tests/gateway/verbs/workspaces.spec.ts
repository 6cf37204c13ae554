import { verify } from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlRefused } from '#lib/control/refusal';
import { type Db, openDb } from '#lib/data/db';
import { findWorkspace } from '#lib/queries/workspaces';
import { hashKey } from '#lib/secrets';
import { loadKey } from '#lib/snapshot/load';
import type { Policy } from '#lib/snapshot/snapshot';
import { addCredit } from '#lib/verbs/credit';
import { createUser } from '#lib/verbs/user';
import { VerbRefused } from '#lib/verbs/verb';
import { type CreateWorkspaceInput, createWorkspace, setWorkspace } from '#lib/verbs/workspace';
import { createKey, setPolicy } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const actor = 'command line';
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

function newWorkspace(settings: Partial<CreateWorkspaceInput> = {}) {
  return createWorkspace(db, actor, { name: 'Labs', ...settings });
}

function refusalOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'not refused',
    (error: unknown) => {
      if (error instanceof VerbRefused || error instanceof ControlRefused) return error.message;
      throw error;
    },
  );
}

async function count(text: string, values: unknown[]): Promise<number> {
  return (await db.pool.query(text, values)).rows.length;
}

describe('creating a workspace', () => {
  it('gives it 600 RPM, 4,000,000 TPM and 50 concurrent calls, in UTC, with nothing to spend', async () => {
    const { id, slug } = await newWorkspace({ name: 'Ünited Labs!' });
    expect(slug).toBe('united-labs');
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
      rpm: '10',
      tpm: 'none',
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

  it.each([
    ['日本', 'workspace'],
    ['Models', 'models-workspace'],
    ['  --A  B--', 'a-b'],
  ])('makes a slug of %j that no console page has: %s', async (name, slug) => {
    expect((await newWorkspace({ name })).slug).toBe(slug);
  });

  it.each<[string, Partial<CreateWorkspaceInput>, RegExp]>([
    ['a limit of 0', { rpm: 0 }, /^rpm: /],
    ['a negative limit', { concurrency: '-3' }, /^concurrency: /],
    ['an unknown time zone', { timeZone: 'Mars/Base' }, /^timeZone: not a known IANA time zone/],
    ['an offset as a time zone', { timeZone: '+02:00' }, /^timeZone: /],
    ['a negative credit', { credit: '-1' }, /^credit: credit is 0 dollars or more/],
    ['more credit than can be counted', { credit: '9999999999' }, /^credit: an amount is at most/],
    ['no name', { name: '' }, /^name: a name is needed/],
  ])('refuses %s', async (_name, settings, message) => {
    expect(await refusalOf(newWorkspace(settings))).toMatch(message);
  });
});

describe('setting a workspace', () => {
  it('changes what is given, "none" removes, the slug stays', async () => {
    const { id, slug } = await newWorkspace();
    await setWorkspace(db, actor, { workspace: slug, name: 'New', rpm: 'none', credit: '3' });
    expect(await findWorkspace(db, id)).toMatchObject({
      slug,
      name: 'New',
      rpm: null,
      tpm: 4_000_000,
      credit: '3',
    });
    const refused = setWorkspace(db, actor, { workspace: slug, tpm: 0, name: 'Unchanged' });
    expect(await refusalOf(refused)).toMatch(/^tpm: /);
    expect(await findWorkspace(db, id)).toMatchObject({ name: 'New' });
  });

  it('suspends it and takes it back into service', async () => {
    const { id } = await newWorkspace();
    await setWorkspace(db, actor, { workspace: id, suspended: true });
    expect(await findWorkspace(db, id)).toMatchObject({ suspended: true });
    await setWorkspace(db, actor, { workspace: id, suspended: false });
    expect(await findWorkspace(db, id)).toMatchObject({ suspended: false });
  });

  it('recalls leases when the credit is lowered, not when it is raised', async () => {
    const { id } = await newWorkspace({ credit: '5' });
    const recalls = () => count('SELECT 1 FROM change WHERE subject = $1', [`workspace:${id}`]);
    await setWorkspace(db, actor, { workspace: id, credit: '6' });
    expect(await recalls()).toBe(0);
    await setWorkspace(db, actor, { workspace: id, credit: '1' });
    expect(await recalls()).toBe(1);
  });
});

describe('the money of a workspace', () => {
  it('is balance plus credit minus what rows and leases hold', async () => {
    const { id, slug } = await newWorkspace({ credit: '1' });
    await addCredit(db, actor, { workspace: slug, amount: '10', reason: 'start' });
    const key = await createKey(db, { workspace: id, name: 'k' }, 'pepper');
    await db.pool.query(
      `INSERT INTO hold (call_id, workspace_id, key_id, amount_nano, admitted_at)
       VALUES (gen_random_uuid(), $1, $2, 250000000, now())`,
      [id, key.id],
    );
    await db.pool.query(
      `WITH o AS (INSERT INTO owner (id, machine, pid, expires_at)
         VALUES (gen_random_uuid(), 'm', 1, now()) RETURNING id)
       INSERT INTO lease (owner_id, kind, subject_id, granted_nano, held_nano)
       SELECT o.id, 'workspace', $1, 5000000000, 750000000 FROM o`,
      [id],
    );
    expect(await findWorkspace(db, slug)).toMatchObject({
      balance: '10',
      credit: '1',
      held: '1',
      available: '10',
      keys: [{ id: key.id, name: 'k', status: 'active' }],
    });
  });

  it('is posted as a ledger line with its reason, and a debit recalls leases', async () => {
    const { id } = await newWorkspace();
    const added = await addCredit(db, actor, { workspace: id, amount: '2.5', reason: 'gift' });
    expect(added.balance).toBe('2.5');
    const taken = await addCredit(db, actor, { workspace: id, amount: '-4', reason: 'mistake' });
    expect(taken.balance).toBe('-1.5');
    const { rows } = await db.pool.query(
      'SELECT ref, kind, amount_nano, reason FROM ledger_line WHERE workspace_id = $1 ORDER BY at, ref',
      [id],
    );
    expect(rows).toEqual([
      { ref: added.ref, kind: 'credit', amount_nano: '2500000000', reason: 'gift' },
      { ref: taken.ref, kind: 'credit', amount_nano: '-4000000000', reason: 'mistake' },
    ]);
    expect(await count('SELECT 1 FROM change WHERE subject = $1', [`workspace:${id}`])).toBe(1);
  });

  it('adds up when 20 lines are posted at once', async () => {
    const { id } = await newWorkspace();
    const post = () => addCredit(db, actor, { workspace: id, amount: '0.1', reason: 'race' });
    await Promise.all(Array.from({ length: 20 }, post));
    expect(await findWorkspace(db, id)).toMatchObject({ balance: '2' });
  });

  it.each([
    ['0', 'gift', /^amount: .*0/],
    ['a lot', 'gift', /^amount: /],
    ['1', ' ', /^reason: a reason is needed/],
  ])('refuses %j for %j', async (amount, reason, message) => {
    const { id } = await newWorkspace();
    expect(await refusalOf(addCredit(db, actor, { workspace: id, amount, reason }))).toMatch(message);
  });
});

describe('creating a user', () => {
  it('stores a password as Argon2id and makes a member', async () => {
    const { id: workspaceId, slug } = await newWorkspace();
    const wanted = { email: ' Ann@Example.COM ', password: 'correct horse', workspace: slug };
    const { id, email } = await createUser(db, actor, { ...wanted, role: 'admin' as const });
    expect(email).toBe('ann@example.com');
    const user = await db.prisma.user.findUniqueOrThrow({ where: { id }, include: { members: true } });
    expect(user.passwordHash).toMatch(/^\$argon2id\$/);
    expect(await verify(user.passwordHash ?? '', 'correct horse')).toBe(true);
    expect(user.members).toMatchObject([{ workspaceId, role: 'admin' }]);
  });

  it('refuses a known address, a short password, an unknown workspace, and changes nothing', async () => {
    const wanted = { email: 'bob@example.com', password: 'long enough' };
    const absent = createUser(db, actor, { ...wanted, workspace: 'absent' });
    expect(await refusalOf(absent)).toContain('no workspace');
    await createUser(db, actor, wanted);
    expect(await refusalOf(createUser(db, actor, wanted))).toContain('already');
    expect(await refusalOf(createUser(db, actor, { ...wanted, password: 'short' }))).toContain(
      '8 characters',
    );
    expect(await refusalOf(createUser(db, actor, { ...wanted, email: 'bob' }))).toContain('e-mail');
  });
});

describe('setting a policy', () => {
  it('puts the newest version in force, by model and by default', async () => {
    const { id, slug } = await newWorkspace();
    const { key } = await createKey(db, { workspace: id, name: 'k' }, 'pepper');
    await db.prisma.model.create({
      data: { id: 'a/b', name: 'B', contextTokens: 1, maxOutputTokens: 1, input: [], output: [] },
    });
    await db.prisma.provider.createMany({
      data: ['p', 'q'].map((name) => ({ id: name, name, families: {} })),
    });
    expect(await setPolicy(db, { workspace: slug, policy: { sort: 'price' } })).toEqual({
      version: 1,
    });
    const policy = { order: ['p'], maxAttempts: 2 };
    expect(await setPolicy(db, { workspace: slug, policy })).toEqual({ version: 2 });
    await setPolicy(db, { workspace: slug, model: 'a/b', policy: { ignore: ['q'] } });
    const snapshot = await loadKey(db.pool, hashKey(key, 'pepper'));
    expect(snapshot?.policies).toEqual(
      new Map<string, Policy>([
        ['', policy],
        ['a/b', { ignore: ['q'] }],
      ]),
    );
    // Written past the verbs: it must not fall open.
    await db.pool.query(
      `UPDATE policy SET policy = '{"only": 5}' WHERE workspace_id = $1 AND model_id = ''`,
      [id],
    );
    const broken = await loadKey(db.pool, hashKey(key, 'pepper'));
    expect(broken?.policies.get('')?.only).toHaveLength(1);
  });

  it('numbers versions in turn when five are set at once', async () => {
    const { id } = await newWorkspace();
    const set = () => setPolicy(db, { workspace: id, policy: {} });
    const made = await Promise.all(Array.from({ length: 5 }, set));
    expect(made.map((one) => one.version).sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it('refuses unknown keys, a provider in both order and weights, and an unknown model', async () => {
    const { id } = await newWorkspace();
    const both = { order: ['p'], weights: { p: 1 } };
    expect(await refusalOf(setPolicy(db, { workspace: id, policy: both }))).toContain('both');
    const unknown = setPolicy(db, { workspace: id, model: 'no/such', policy: {} });
    expect(await refusalOf(unknown)).toContain('no model "no/such"');
    const extra = JSON.parse('{"sort":"price","colour":"red"}');
    expect(await refusalOf(setPolicy(db, { workspace: id, policy: extra }))).toContain('colour');
  });
});
