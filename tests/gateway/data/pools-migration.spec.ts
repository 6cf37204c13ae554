import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { catalogueYaml } from '#lib/control/catalogue/export';
import { exportCatalogueOperation } from '#lib/control/operations/catalogue/export';
import { setCredential } from '#lib/control/operations/provider/credential';
import { listProviders } from '#lib/control/operations/provider/list';
import { readResource } from '#lib/gateway/resources/row';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { openDb } from '#lib/platform/data/db';
import { openEmbedded } from '#lib/platform/data/embedded';
import { migrate } from '#lib/platform/data/migrate';
import { credentialContext, seal } from '#lib/platform/sealing';
import { operate, sealingKey } from '#tests/support/control/operate';
import { createEmptyDatabase } from '#tests/support/database';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { copyMigrations } from '#tests/support/shared/migrations';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const databases: readonly (readonly [string, () => Promise<string>])[] = [
  [
    'a PostgreSQL server',
    async () => {
      const database = await createEmptyDatabase();
      ends.push(database.drop);
      return database.url;
    },
  ],
  [
    'the embedded database',
    async () => {
      const embedded = await openEmbedded(await embeddedDirectory('made'), 'server');
      ends.push(embedded.close);
      return embedded.url;
    },
  ],
];

/** By provider, its one credential as the version before stored it. */
const before = {
  entered: { sealed: seal('sk-entered', sealingKey, credentialContext('entered')) },
  named: { env: 'NAMED_KEY' },
  open: { none: true },
  without: null,
};
const envSecret = (name: string) => (name === 'NAMED_KEY' ? 'sk-from-a-variable' : undefined);

it.each(databases)(
  'providers with one credential become pools of one on %s (contract: routing/pool)',
  async (_, open) => {
    const url = await open();
    await migrate(url, copyMigrations('20261127143000_credential_pools'));
    const db = openDb(url);
    ends.push(db.close);
    for (const [id, credential] of Object.entries(before)) {
      await db.pool.query(
        `INSERT INTO provider (id, name, families, credential) VALUES ($1, $1, '{"chat": "https://p.example/v1"}', $2)`,
        [id, credential && JSON.stringify(credential)],
      );
    }
    const [workspace, call] = [randomUUID(), randomUUID()];
    await db.pool.query(`INSERT INTO workspace (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [workspace]);
    await db.pool.query(
      `INSERT INTO resource (workspace_id, kind, id, provider_id, family, model_id, upstream_model, call_id)
      VALUES ($1, 'response', 'resp_1', 'entered', 'responses', 'm', 'm', $2)`,
      [workspace, call],
    );

    await migrate(url);

    // What processes of the version before read is as it was.
    const { rows } = await db.pool.query('SELECT id, credential FROM provider ORDER BY id');
    expect(Object.fromEntries(rows.map(({ id, credential }) => [id, credential]))).toEqual(before);
    expect((await db.pool.query('SELECT FROM credential')).rowCount).toBe(0);
    const resource = await db.pool.query('SELECT * FROM resource');
    expect(resource.rows.map(readResource)).toMatchObject([{ id: 'resp_1', credential: 'default' }]);
    const pools = async () => {
      const { providers } = await loadCatalogue(db.pool, { envSecret, sealingKey });
      return Object.fromEntries([...providers.values()].map(({ id, credentials }) => [id, credentials]));
    };
    const plain = { name: 'default', weight: 1, priority: 1, models: null };
    expect(await pools()).toEqual({
      entered: [{ ...plain, secret: 'sk-entered' }],
      named: [{ ...plain, secret: 'sk-from-a-variable' }],
      open: [{ ...plain, secret: 'no-credential-needed' }],
      without: [],
    });
    expect(catalogueYaml(await operate(db, exportCatalogueOperation, {}))).not.toContain('credentials:');

    await operate(db, setCredential, { provider: 'entered', name: 'team-2', value: 'sk-second', weight: 2 });
    await operate(db, setCredential, { provider: 'entered', weight: 3 });
    expect((await pools()).entered).toEqual([
      { ...plain, secret: 'sk-entered', weight: 3 },
      { ...plain, secret: 'sk-second', name: 'team-2', weight: 2 },
    ]);
    const { data } = await operate(db, listProviders, {});
    expect(data.map(({ id, credentials }) => [id, credentials.map(({ name }) => name)])).toEqual([
      ['entered', ['default', 'team-2']],
      ['named', ['default']],
      ['open', ['default']],
      ['without', ['default']],
    ]);
    // Going back: the version before still has the first one.
    const kept = await db.pool.query(`SELECT credential FROM provider WHERE id = 'entered'`);
    expect(kept.rows).toEqual([{ credential: before.entered }]);
  },
);
