import { describe, expect, it } from 'vitest';
import { ControlRefused } from '#lib/control/operations/refusal';
import type { Policy } from '#lib/core/facts/snapshot';
import { loadKey } from '#lib/gateway/snapshot/load';
import { hashKey } from '#lib/platform/secrets';
import {
  addCredit,
  createKey,
  createWorkspace,
  findWorkspace,
  setPolicy,
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

describe('the money of a workspace', () => {
  it('is balance plus credit minus what rows and leases hold', async () => {
    const { id, slug } = await newWorkspace({ credit: '1' });
    await addCredit(db, { workspace: slug, amount: '10', reason: 'start' });
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
    await db.pool.query(
      `UPDATE policy SET translate = 'fallback' WHERE workspace_id = $1 AND model_id = ''`,
      [id],
    );
    const earlier = await loadKey(db.pool, hashKey(key, 'pepper'));
    expect(earlier?.policies.get('')).toEqual({ ...policy, translate: 'fallback' });
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
