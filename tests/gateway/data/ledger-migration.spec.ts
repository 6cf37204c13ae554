import { Pool } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { openEmbedded } from '#lib/platform/data/embedded';
import { migrate } from '#lib/platform/data/migrate';
import { fillBefore } from '#tests/gateway/data/books-before';
import { createEmptyDatabase } from '#tests/support/database';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { copyMigrations, hourlyVersion } from '#tests/support/shared/migrations';

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
      const embedded = await openEmbedded(await embeddedDirectory('hourly'), 'server');
      ends.push(embedded.close);
      return embedded.url;
    },
  ],
];

const sums = `
  SELECT workspace_id AS id, sum(amount_nano)::text AS ledger,
    coalesce(-sum(amount_nano) FILTER (WHERE kind IN ('call', 'job', 'usage')), 0)::text AS usage
  FROM ledger_line GROUP BY 1 ORDER BY 1`;
const balances = 'SELECT id, balance_nano::text AS balance FROM workspace ORDER BY id';

it.each(databases)(
  'books with a line for each call become postings of the same sums on %s',
  async (_, open) => {
    const url = await open();
    await migrate(url, copyMigrations(hourlyVersion));
    const pool = new Pool({ connectionString: url });
    ends.push(() => pool.end());
    await fillBefore(pool, 2_000);
    const before = await pool.query(sums);
    const held = await pool.query(balances);
    expect(before.rows).toHaveLength(5);

    await migrate(url);

    expect((await pool.query(balances)).rows).toEqual(held.rows);
    const after = await pool.query(sums);
    // Jobs that were charged after they were given up are adjustments now.
    const late = await pool.query(
      `SELECT workspace_id AS id, -sum(amount_nano)::bigint AS nano FROM ledger_line WHERE reason LIKE 'a job that was given up%' GROUP BY 1`,
    );
    const lateOf = new Map(late.rows.map(({ id, nano }) => [id, BigInt(nano)]));
    expect(lateOf.size).toBeGreaterThan(0);
    expect(
      after.rows.map(({ id, usage, ledger }) => [id, ledger, BigInt(usage) + (lateOf.get(id) ?? 0n)]),
    ).toEqual(before.rows.map(({ id, usage, ledger }) => [id, ledger, BigInt(usage)]));
    const { checks, deleted } = await verifyLedger({ pool });
    expect(checks.filter((check) => check.rows.length > 0)).toEqual([]);
    expect(deleted?.calls).toBeGreaterThan(100n);
    const { rows } = await pool.query('SELECT DISTINCT kind FROM ledger_line ORDER BY 1');
    expect(rows.map(({ kind }) => kind)).toEqual(['adjustment', 'refund', 'top_up', 'usage']);
  },
);
