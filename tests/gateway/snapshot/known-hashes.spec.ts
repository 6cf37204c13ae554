import { randomBytes, randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKnownHashes } from '#lib/gateway/snapshot/known-hashes';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let pool: Pool;
const workspace = randomUUID();

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url });
  await pool.query(`INSERT INTO workspace (id, slug, name) VALUES ($1, 'w', 'w')`, [workspace]);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function makeKeys(count: number): Promise<{ ids: string[]; hashes: Buffer[] }> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const hashes = Array.from({ length: count }, () => randomBytes(32));
  await pool.query(
    `INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end)
     SELECT id, $2, 'k', hash, 'mg_', 'x' FROM unnest($1::uuid[], $3::bytea[]) AS r (id, hash)`,
    [ids, workspace, hashes],
  );
  return { ids, hashes };
}

describe('the hashes that may be keys', () => {
  it('are those of all keys, page after page, and later those that were made since', async () => {
    const { hashes } = await makeKeys(20_001);
    const known = createKnownHashes(pool);
    expect(hashes.some((hash) => known.has(hash))).toBe(false);
    await known.load(null);
    expect(hashes.every((hash) => known.has(hash))).toBe(true);
    const strangers = Array.from({ length: 10_000 }, () => randomBytes(32));
    expect(strangers.filter((hash) => known.has(hash)).length).toBeLessThan(10);

    const { ids, hashes: later } = await makeKeys(3);
    const old = randomBytes(32);
    await pool.query('UPDATE api_key SET old_hash = $2 WHERE id = $1', [ids[0], old]);
    expect(later.some((hash) => known.has(hash))).toBe(false);
    await known.load(ids);
    expect([...later, old].every((hash) => known.has(hash))).toBe(true);
  });
});
