import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openEmbedded } from '#lib/platform/data/embedded';
import { migrate } from '#lib/platform/data/migrate';
import { declaredShape } from '#tests/gateway/data/declared';
import { storedShape } from '#tests/gateway/data/stored';
import { createDatabase, createEmptyDatabase } from '#tests/support/database';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { copyMigrations, hourlyVersion } from '#tests/support/shared/migrations';

const schema = fileURLToPath(new URL('../../../prisma/schema.prisma', import.meta.url));
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function poolOf(url: string): Pool {
  const pool = new Pool({ connectionString: url });
  ends.push(() => pool.end());
  return pool;
}

async function emptyDatabase(): Promise<string> {
  const database = await createEmptyDatabase();
  ends.push(database.drop);
  return database.url;
}

async function embeddedDatabase(state: 'made' | 'hourly' | 'migrated'): Promise<string> {
  const embedded = await openEmbedded(await embeddedDirectory(state), 'server');
  ends.push(embedded.close);
  return embedded.url;
}

function addMigration(directory: string, name: string, sql: string): void {
  mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(join(directory, name, 'migration.sql'), sql);
}

/** A call with a charge and three attempts in a week of its own, and one that was refused. */
const earlierCalls = `
  CREATE TABLE call_w20261116 PARTITION OF call
    FOR VALUES FROM ('019a8f00-0000-0000-0000-000000000000') TO ('019a9100-0000-0000-0000-000000000000');
  CREATE TABLE attempt_w20261116 PARTITION OF attempt
    FOR VALUES FROM ('019a8f00-0000-0000-0000-000000000000') TO ('019a9100-0000-0000-0000-000000000000');
  INSERT INTO workspace (id, slug, name) VALUES ('019a9000-0000-7000-8000-00000000000a', 'w', 'w');
  INSERT INTO call (id, at, workspace_id, key_id, family, operation, requested_model, status, streamed, latency_ms,
      overhead_ms, attempt_count, end_reason, usage_source, flags, usage, lines, cost_nano, hold_nano, over_hold_nano)
    SELECT id::uuid, '2026-11-18T10:00:00Z', '019a9000-0000-7000-8000-00000000000a',
      '019a9000-0000-7000-8000-00000000000b', 'chat', 'chat.create', 'a/b', status, false, 40, 0.5, attempts,
      'completed', 'reported', '{usage_anomaly}', '{"input": 3}',
      '[{"cost": "0.000006", "class": "input", "quantity": 3, "unitPriceNano": "2000000"}]', cost, 30, 0
    FROM (VALUES ('019a9000-0000-7000-8000-000000000001', 200, 3, 20),
      ('01a00000-0000-7000-8000-000000000002', 402, 0, 0)) AS r (id, status, attempts, cost);
  INSERT INTO attempt SELECT '019a9000-0000-7000-8000-000000000001', position, gen_random_uuid(), provider, 'a/b', status,
      error, 1 + 2 * position, 2, upstream, position = 0
    FROM (VALUES (2, 'three', 200, NULL, 'up-3'), (0, 'one', NULL, 'first_byte_timeout', NULL),
      (1, 'two', 503, 'server_error', 'up-2')) AS r (position, provider, status, error, upstream);
  INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, at)
    SELECT id, workspace_id, 'call', id::text, -20, '2026-11-18T10:00:01.5Z' FROM call WHERE cost_nano > 0`;

/** A workspace with a default policy and one of a model, one with only that, and one without any. */
const earlierPolicies = `
  INSERT INTO workspace (id, slug, name) SELECT gen_random_uuid(), slug, slug
    FROM (VALUES ('both'), ('model'), ('none')) AS s (slug);
  INSERT INTO policy (workspace_id, model_id, version, policy) SELECT w.id, model, version, policy::jsonb
    FROM workspace w JOIN (VALUES ('both', '', 1, '{"sort": "price"}'), ('both', '', 2, '{}'),
      ('both', 'a/b', 1, '{"maxAttempts": 2}'), ('model', 'a/b', 1, '{"maxAttempts": 3}'))
      AS p (slug, model, version, policy) USING (slug);
  INSERT INTO policy_draft (workspace_id, model_id, policy, base_version, revision)
    SELECT w.id, model, policy::jsonb, base, 1
    FROM workspace w JOIN (VALUES ('both', '', '{"sort": "order"}', 2), ('both', 'a/b', '{"maxAttempts": 1}', 1),
      ('model', '', '{"sort": "latency"}', 0)) AS d (slug, model, policy, base) USING (slug)`;

describe('the migrated database is what the schema file says', () => {
  it('on a PostgreSQL server', async () => {
    const database = await createDatabase();
    ends.push(database.drop);
    expect(await storedShape(poolOf(database.url))).toEqual(declaredShape(schema));
  });

  it('on the embedded database', async () => {
    const url = await embeddedDatabase('migrated');
    expect(await storedShape(poolOf(url))).toEqual(declaredShape(schema));
  });
});

describe('a database of an earlier version', () => {
  it('keeps its workspaces at addresses that calls need, under another slug and with the old one noted', async () => {
    const url = await emptyDatabase();
    await migrate(url, copyMigrations('20261122103500'));
    const pool = poolOf(url);
    for (const slug of ['chat', 'chat-workspace', 'videos', 'acme'])
      await pool.query('INSERT INTO workspace (id, slug, name) VALUES (gen_random_uuid(), $1, $1)', [slug]);
    await migrate(url);
    const { rows } = await pool.query(
      `SELECT w.name, w.slug, f.slug AS former FROM workspace w LEFT JOIN former_slug f ON f.workspace_id = w.id
       ORDER BY w.name`,
    );
    expect(rows).toEqual([
      { name: 'acme', slug: 'acme', former: null },
      { name: 'chat', slug: 'chat-workspace-2', former: 'chat' },
      { name: 'chat-workspace', slug: 'chat-workspace', former: null },
      { name: 'videos', slug: 'videos-workspace', former: 'videos' },
    ]);
  });

  it.each([
    ['a PostgreSQL server', emptyDatabase],
    ['the embedded database', () => embeddedDatabase('hourly')],
  ])('on %s keeps its calls, each with its attempts and the time of its charge', async (_, open) => {
    const url = await open();
    await migrate(url, copyMigrations(hourlyVersion));
    const pool = poolOf(url);
    await pool.query(earlierCalls);
    await migrate(url);
    const { rows } = await pool.query('SELECT tableoid::regclass::text AS place, * FROM call ORDER BY id');
    const [charged, refused] = rows;
    expect(rows).toHaveLength(2);
    expect(charged).toMatchObject({
      place: 'call_w20261116',
      id: '019a9000-0000-7000-8000-000000000001',
      settled_at: new Date('2026-11-18T10:00:01.500Z'),
      cost_nano: '20',
      overhead_ms: 0.5,
      requested_model: 'a/b',
      flags: ['usage_anomaly'],
      usage: { input: 3 },
      attempts: [
        [null, 1, 2, null, 'first_byte_timeout', 'one', 'a/b', true],
        ['up-2', 3, 2, 503, 'server_error', 'two', 'a/b'],
        ['up-3', 5, 2, 200, null, 'three', 'a/b'],
      ],
      lines: [['input', 3, '2000000']],
    });
    expect(refused).toMatchObject({
      place: 'call_default',
      settled_at: new Date('2026-11-18T10:00:00.040Z'),
      status: 402,
      attempts: [],
    });
    const left = await pool.query("SELECT relname FROM pg_class WHERE relname LIKE 'attempt%'");
    expect(left.rows).toEqual([]);
  });
});

describe('stored policies (contract: translation/policy)', () => {
  it.each([
    ['a PostgreSQL server', emptyDatabase],
    ['the embedded database', () => embeddedDatabase('hourly')],
  ])('on %s translate as a fallback, and stay readable for the version before', async (_, open) => {
    const url = await open();
    await migrate(url, copyMigrations('20261127101500'));
    const pool = poolOf(url);
    await pool.query(earlierPolicies);
    await migrate(url);
    const stored = await pool.query(
      `SELECT slug, model_id AS model, version, policy, translate
       FROM policy p JOIN workspace w ON w.id = p.workspace_id ORDER BY slug, model_id, version`,
    );
    expect(stored.rows).toEqual([
      { slug: 'both', model: '', version: 1, policy: { sort: 'price' }, translate: 'fallback' },
      { slug: 'both', model: '', version: 2, policy: {}, translate: 'fallback' },
      { slug: 'both', model: 'a/b', version: 1, policy: { maxAttempts: 2 }, translate: null },
      { slug: 'model', model: 'a/b', version: 1, policy: { maxAttempts: 3 }, translate: 'fallback' },
    ]);
    const drafts = await pool.query(
      `SELECT slug, model_id AS model, policy FROM policy_draft d JOIN workspace w ON w.id = d.workspace_id
       ORDER BY slug, model_id`,
    );
    expect(drafts.rows).toEqual([
      { slug: 'both', model: '', policy: { sort: 'order', translate: 'fallback' } },
      { slug: 'both', model: 'a/b', policy: { maxAttempts: 1 } },
      { slug: 'model', model: '', policy: { sort: 'latency' } },
    ]);
    // As the version before stores one while it still runs.
    await pool.query(`INSERT INTO policy (workspace_id, version, policy) SELECT id, 1, '{}' FROM workspace
      WHERE slug = 'none'`);
    const late = await pool.query(`SELECT translate FROM policy p
      JOIN workspace w ON w.id = p.workspace_id WHERE slug = 'none'`);
    expect(late.rows).toEqual([{ translate: 'fallback' }]);
  });
});

/** Few and small, for what holds whatever migrations do. */
function someMigrations(): string {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-migrations-'));
  addMigration(directory, '20250101000000_first', 'CREATE TABLE workspace (id INT)');
  addMigration(directory, '20250102000000_second', 'ALTER TABLE workspace ADD name TEXT');
  return directory;
}

describe.each([
  ['a PostgreSQL server', emptyDatabase],
  ['the embedded database', () => embeddedDatabase('made')],
])('migrations on %s', (_, open) => {
  let close: (() => Promise<unknown>)[] = [];
  let url: string;
  const directory = someMigrations();
  beforeAll(async () => {
    url = await open();
    close = ends.splice(0).reverse();
  });
  afterAll(async () => {
    for (const end of close) await end();
  });

  it('are applied once when several processes start at the same time', async () => {
    addMigration(directory, '29990101000000_more', 'CREATE TABLE more (n INT)');
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(url, directory)));
    expect(applied.flat().filter((name) => name.endsWith('_more'))).toHaveLength(1);
    const { rows } = await poolOf(url).query('SELECT count(*)::int AS n FROM _prisma_migrations');
    expect(rows[0].n).toBe(applied.flat().length);
  });

  it('leave everything as it was when one of them fails', async () => {
    const later = mkdtempSync(join(tmpdir(), 'gateway-migrations-'));
    cpSync(directory, later, { recursive: true });
    addMigration(later, '29990102000000_good', 'CREATE TABLE good (n INT)');
    addMigration(later, '29990103000000_bad', 'CREATE TABLE half (n INT); SELECT nothing FROM nowhere');
    await expect(migrate(url, later)).rejects.toThrow('29990103000000_bad failed; nothing was changed');
    const { rows } = await poolOf(url).query(
      "SELECT to_regclass('half') AS half, to_regclass('good') AS good",
    );
    expect(rows).toEqual([{ half: null, good: null }]);
  });

  it('refuse a database that a newer version has migrated', async () => {
    await expect(migrate(url, someMigrations())).rejects.toThrow(
      /newer version .* \(29990101000000_more\)\. Start that version/,
    );
  });

  it('refuse to go on after an applied one was edited', async () => {
    addMigration(directory, '29990101000000_more', 'CREATE TABLE more (n BIGINT)');
    await expect(migrate(url, directory)).rejects.toThrow(
      /29990101000000_more was edited after it was applied/,
    );
  });
});
