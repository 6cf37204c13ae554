import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { makePartitions } from '#lib/control/retention/partitions';
import { postUsage } from '#lib/gateway/ledger/post-usage';
import { recover } from '#lib/gateway/settlement/recover';
import { settle } from '#lib/gateway/settlement/settle';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { eventually } from '#tests/support/eventually';
import {
  type Customer,
  callOf,
  closeOf,
  createCustomer,
  newDirectory,
  newId,
} from '#tests/support/settlement';

let database: TestDatabase;
let pool: Pool;
let customer: Customer;

/** A "quarter of an hour" of this database takes a second: its ends can be seen. */
const short = quarterBody(`date_bin(INTERVAL '1 second', moment, TIMESTAMPTZ '2000-01-01 00:00:00+00')`);

function quarterBody(expression: string): string {
  return `CREATE OR REPLACE FUNCTION ledger_quarter(moment TIMESTAMPTZ) RETURNS TIMESTAMPTZ
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ${expression} $$`;
}

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url });
  await pool.query(short);
  await makePartitions(pool, Date.now());
});
beforeEach(async () => {
  customer = await createCustomer(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

interface Line {
  readonly id: string;
  readonly at: Date;
  readonly spent: string;
  readonly calls: number;
}

async function linesOf({ workspaceId }: Customer): Promise<Line[]> {
  const { rows } = await pool.query<Line>(
    `SELECT id, at, (-amount_nano)::text AS spent, calls FROM ledger_line
     WHERE workspace_id = $1 AND kind = 'usage' ORDER BY at`,
    [workspaceId],
  );
  return rows;
}

/** Returns when the quarter of that moment has ended, by the clock of the database. */
async function quarterEnd(moment: Date): Promise<void> {
  await pool.query(
    `SELECT pg_sleep(greatest(0, extract(epoch FROM ledger_quarter($1) + interval '1.01 seconds' - clock_timestamp())))`,
    [moment],
  );
}

/** How many transactions run that began before the quarter after this one. */
async function runningSince(quarter: Date): Promise<number> {
  const { rows } = await pool.query<{ running: number }>(
    `SELECT count(*)::int AS running FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND xact_start < $1::timestamptz + interval '1 second'`,
    [quarter],
  );
  return rows[0]?.running ?? 0;
}

const settleOne = (costNano: bigint) => settle(pool, newId(), [closeOf(callOf(customer, { costNano }))]);

async function expectSound(): Promise<void> {
  expect((await verifyLedger({ pool })).checks.filter((check) => check.rows.length > 0)).toEqual([]);
}

describe('a usage line (contract: money/postings)', () => {
  it('grows with what is settled in its quarter, and a new one begins with the next', async () => {
    await settle(pool, newId(), [
      closeOf(callOf(customer, { costNano: 5n })),
      closeOf(callOf(customer, { costNano: 7n })),
      closeOf(callOf(customer, { costNano: 0n })),
    ]);
    const [first] = await linesOf(customer);
    expect(first).toMatchObject({ spent: '12', calls: 2 });
    await quarterEnd(first?.at ?? new Date());
    await settleOne(1n);
    const lines = await linesOf(customer);
    expect(lines[0]).toEqual(first);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({ spent: '1', calls: 1 });
    await expectSound();
  });

  it('is that of the quarter in which its transaction began, even if another has begun since', async () => {
    const holder = await pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM workspace WHERE id = $1 FOR UPDATE', [customer.workspaceId]);
    const late = settleOne(3n);
    const waiting = async () =>
      (
        await pool.query<{ began: Date }>(
          `SELECT xact_start AS began FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      ).rows[0]?.began ?? null;
    await eventually(async () => (await waiting()) !== null, true);
    const began = (await waiting()) ?? new Date();
    await quarterEnd(began);
    await holder.query('COMMIT');
    holder.release();
    await late;
    await settleOne(4n);
    const [line, next] = await linesOf(customer);
    expect(line).toMatchObject({ spent: '3', calls: 1 });
    expect(next).toMatchObject({ spent: '4', calls: 1 });
    expect(Math.floor(began.getTime() / 1000)).toBe((line?.at.getTime() ?? 0) / 1000);
    await expectSound();
  });

  it('gains nothing from a transaction whose quarter ended over a minute ago: that is to be repeated', async () => {
    // What lies a minute back is shown as a later quarter: as if the clock had run on since now().
    await pool.query(
      quarterBody(`CASE WHEN moment < now() - INTERVAL '30 seconds' THEN 'infinity'::timestamptz
        ELSE date_bin(INTERVAL '1 second', moment, TIMESTAMPTZ '2000-01-01 00:00:00+00') END`),
    );
    await expect(settleOne(3n)).rejects.toMatchObject({ code: '55000' });
    await pool.query(short);
    expect(await linesOf(customer)).toEqual([]);
    await settleOne(3n);
    expect(await linesOf(customer)).toHaveLength(1);
    await expectSound();
  });

  it.each([
    ['shrink', 'UPDATE ledger_line SET amount_nano = amount_nano + 1'],
    ['count fewer calls', 'UPDATE ledger_line SET calls = calls - 1'],
    ['move', `UPDATE ledger_line SET at = at - interval '1 hour'`],
    ['change hands', 'UPDATE ledger_line SET workspace_id = gen_random_uuid()'],
    ['be renamed', `UPDATE ledger_line SET ref = 'another'`],
    ['become another kind', `UPDATE ledger_line SET kind = 'adjustment', calls = NULL`],
    ['be deleted', 'DELETE FROM ledger_line'],
  ])('cannot %s, not even in its own quarter', async (_, change) => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await postUsage(client, [{ id: customer.workspaceId, spentNano: 5n, simulatedNano: 0n, calls: 2 }]);
      const where = `${change} WHERE workspace_id = '${customer.workspaceId}' AND kind = 'usage'`;
      await expect(client.query(where)).rejects.toThrow('append-only');
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it('cannot grow once its quarter has ended, be made for another one, or go with its table', async () => {
    await settleOne(5n);
    const [line] = await linesOf(customer);
    await quarterEnd(line?.at ?? new Date());
    const grow = 'UPDATE ledger_line SET amount_nano = amount_nano - 1, calls = calls + 1 WHERE id = $1';
    await expect(pool.query(grow, [line?.id])).rejects.toThrow('append-only');
    const make = `INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, calls, at)
      VALUES (gen_random_uuid(), $1, 'usage', 'x', -1, 1, ledger_quarter(now()) - interval '1 second')`;
    await expect(pool.query(make, [customer.workspaceId])).rejects.toThrow('in its own quarter');
    await expect(pool.query('TRUNCATE ledger_line')).rejects.toThrow('append-only');
    expect((await linesOf(customer))[0]).toEqual(line);
  });

  it('is exact if two processes post to it across many quarters, killed at any moment', async () => {
    const dirs = [newDirectory(), newDirectory()];
    const program = fileURLToPath(new URL('../../support/settlement-process.ts', import.meta.url));
    const { workspaceId, keyId } = customer;
    const start = (dir: string): ChildProcess =>
      spawn(process.execPath, [program, database.url, dir, workspaceId, keyId], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    const children = dirs.map(start);
    const ended = () => linesOf(customer).then((lines) => lines.slice(0, -1));
    await eventually(async () => (await ended()).length >= 2, true);
    const [oldest] = await ended();
    if (!oldest) throw new Error('two lines were expected');
    // One that began in its quarter may still add to it, for as long as it runs.
    await eventually(() => runningSince(oldest.at), 0);
    const seen = await ended();
    const [first] = seen;
    await eventually(async () => (await ended()).length > seen.length, true);
    for (const child of children) {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
    for (const dir of dirs) await recover({ pool, dir, nowMs: Date.now(), report: () => {} });
    const lines = await linesOf(customer);
    expect(lines[0]).toEqual(first);
    const { rows } = await pool.query(
      'SELECT sum(cost_nano)::text AS spent, count(*)::int AS calls FROM call WHERE workspace_id = $1 AND cost_nano > 0',
      [workspaceId],
    );
    expect(rows).toEqual([
      {
        spent: `${lines.reduce((sum, line) => sum + BigInt(line.spent), 0n)}`,
        calls: lines.reduce((sum, line) => sum + line.calls, 0),
      },
    ]);
    await expectSound();
  });
});
