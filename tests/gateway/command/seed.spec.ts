import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { loadKey } from '#lib/gateway/snapshot/load';
import { type Db, openDb } from '#lib/platform/data/db';
import { hashKey } from '#lib/platform/secrets';
import { seedFirstRun } from '#prisma/seed';
import { createWorkspace, findWorkspace } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const env = { keyPepper: 'pepper', encryptionKey: 'b'.repeat(64), sandbox: true };
const databases: TestDatabase[] = [];
const opened: Db[] = [];

async function empty(): Promise<Db> {
  const database = await createDatabase();
  const db = openDb(database.url);
  databases.push(database);
  opened.push(db);
  return db;
}

let db: Db;
beforeAll(async () => {
  db = await empty();
});
afterAll(async () => {
  for (const one of opened) await one.close();
  for (const one of databases) await one.drop();
});

describe('the first run on an empty database', () => {
  it('makes a workspace with $10, a key that works, a user and the whole catalogue, once', async () => {
    const first = await seedFirstRun(db, env);
    if (!first) throw new Error('nothing was seeded');
    expect(await findWorkspace(db, first.workspaceSlug)).toMatchObject({ slug: 'demo', balance: '10' });
    const loaded = await loadKey(db.pool, hashKey(first.key, env.keyPepper));
    expect(loaded).toMatchObject({ key: { status: 'active' }, workspace: { slug: 'demo' } });
    const user = await db.prisma.user.findUnique({
      where: { email: first.email },
      include: { members: true },
    });
    expect(user?.members.map((member) => member.role)).toEqual(['owner']);
    const { models, providers } = await loadCatalogue(db.pool, {
      envSecret: () => undefined,
      sealingKey: null,
    });
    expect([...providers.keys()]).toEqual(expect.arrayContaining(['openai', 'sandbox']));
    expect(models.get('sandbox/echo')?.offers[0]?.price).not.toBeNull();

    expect(await seedFirstRun(db, env)).toBeNull();
    expect(await findWorkspace(db, 'demo')).toMatchObject({ balance: '10' });
  });

  it('is completed when it was cut off before the key', async () => {
    await db.prisma.apiKey.deleteMany();
    const again = await seedFirstRun(db, env);
    expect(again?.key).toMatch(/^mg_/);
    expect(await findWorkspace(db, 'demo')).toMatchObject({ balance: '10' });
  });

  it('leaves a database that is already in use unchanged', async () => {
    const used = await empty();
    await createWorkspace(used, { name: 'Ours' });
    expect(await seedFirstRun(used, env)).toBeNull();
    expect(await used.prisma.provider.count()).toBe(0);
  });
});
