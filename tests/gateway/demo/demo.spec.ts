import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { readCatalogue } from '#lib/control/catalogue/files';
import { removeDemoData } from '#lib/control/operations/demo/operations';
import { showUsage } from '#lib/control/operations/usage/operations';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { bothDatabases, type Stage } from '#tests/gateway/settlement/both-databases';
import {
  addCredit,
  createKey,
  createWorkspace,
  findWorkspace,
  listKeys,
  operate,
  rotateKey,
} from '#tests/support/control/operate';
import { applySet } from '#tests/support/provider/apply-set';
import { fillDemo } from '#tools/demo/fill';

const nowMs = Date.now();

describe.each(bothDatabases)('demo data on $name (contract: operations/demo)', ({ open }) => {
  let stage: Stage;
  let slug: string;
  let before: Awaited<ReturnType<typeof snapshot>>;
  beforeAll(async () => {
    stage = await open();
    await applySet(stage.db, await readCatalogue('catalogue'));
    const { db } = stage;
    await db.prisma.user.create({ data: { id: randomUUID(), email: 'ann@example.com', operator: true } });
    ({ slug } = await createWorkspace(db, { name: 'Real' }));
    await addCredit(db, { workspace: slug, amount: '10', reason: 'test' });
    await createKey(db, { workspace: slug, name: 'real' });
    before = await snapshot();
  });
  afterAll(() => stage.close());

  /** How many rows each table has, and what belongs to the real workspace. */
  async function snapshot() {
    const { rows } = await stage.db.pool.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_name <> ALL ($1)
       AND table_name NOT LIKE 'call%' ORDER BY 1`,
      [['change', 'change_head', 'seen_time', 'audit']],
    );
    const counts: Record<string, number> = {};
    for (const { name } of [...rows, { name: 'call' }]) {
      const found = await stage.db.pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM "${name}"`);
      counts[name] = found.rows[0]?.n ?? 0;
    }
    return { counts, real: await findWorkspace(stage.db, slug) };
  }
  const broken = async () => {
    const { checks } = await verifyLedger(stage.db);
    return checks.filter((check) => check.rows.length > 0);
  };
  const fill = async (seed = 1) => {
    const catalogue = await loadCatalogue(stage.db.pool, { envSecret: () => undefined, sealingKey: null });
    return fillDemo(stage.db.pool, {
      catalogue,
      nowMs,
      timeZone: 'Europe/Berlin',
      days: 9,
      seed,
      scale: 0.2,
    });
  };

  it('keeps the books in order, and its totals are those of its calls', async () => {
    const filled = await fill();
    expect(filled).toMatchObject({ slug: 'demo-data', members: 1, replaced: false });
    expect(filled.calls).toBeGreaterThan(500);
    expect(await broken()).toEqual([]);
    const { total } = await operate(stage.db, showUsage, { workspace: filled.slug, by: 'model' });
    const { rows } = await stage.db.pool.query('SELECT count(*)::int AS n FROM call');
    expect(total.calls).toBe(rows[0]?.n);
    expect(Number(total.cost)).toBeGreaterThan(0);
    expect((await snapshot()).real).toEqual(before.real);
  });

  it('allows no call in its workspace: its keys get no secret, in any way', async () => {
    const refused = { code: 'conflict', message: expect.stringContaining('have no secret') };
    await expect(createKey(stage.db, { workspace: 'demo-data', name: 'mine' })).rejects.toMatchObject(
      refused,
    );
    const [key] = (await listKeys(stage.db, 'demo-data')).data;
    await expect(rotateKey(stage.db, { id: key?.id })).rejects.toMatchObject(refused);
    const past = stage.db.pool.query('UPDATE api_key SET hash = $2 WHERE id = $1', [
      key?.id,
      Buffer.alloc(32),
    ]);
    await expect(past).rejects.toThrow('no secret');
    const turned = stage.db.pool.query('UPDATE workspace SET demo = true WHERE slug = $1', [slug]);
    await expect(turned).rejects.toThrow('stays so');
  });

  it('is replaced when it is filled again, even by two commands at once', async () => {
    const filled = await Promise.allSettled([fill(2), fill(3)]);
    expect(filled.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect((await fill(4)).replaced).toBe(true);
    expect(await broken()).toEqual([]);
    const demos = await stage.db.prisma.workspace.count({ where: { demo: true } });
    expect(demos).toBe(1);
  });

  it('is deleted with one command, and nothing else is deleted', async () => {
    await operate(stage.db, removeDemoData, {});
    const after = await snapshot();
    expect(after).toEqual(before);
    expect(await broken()).toEqual([]);
    const loss = stage.db.pool.query('DELETE FROM ledger_line');
    await expect(loss).rejects.toThrow('append-only');
    expect(await operate(stage.db, removeDemoData, {})).toEqual({ slug: null, calls: 0 });
  });
});
