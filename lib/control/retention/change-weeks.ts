import type { Pool, PoolClient } from 'pg';
import type { closeCalls } from '#lib/control/billing/close';
import { lockInGap, type Patience, takeTurn } from '#lib/control/retention/gap';
import { type Week, weekAt, weekNamed, weekStart } from '#lib/control/retention/weeks';
import { transact } from '#lib/platform/data/transaction/transaction';
import { idTimeMs } from '#lib/platform/ids';

/** Longest wait for another process that changes weeks, ms; calls do not wait for it. */
const turnMs = 10_000;
/** What is done with a week of calls before it goes reads all of them. */
const limits = { lockMs: turnMs, statementMs: 600_000 };
/** No ids have later times: a gateway makes ids only while its clock is before it. */
const latestMs = Date.UTC(2101, 0, 1);

/** The weeks of the log that have a partition, the oldest first. */
export async function listWeeks(pool: Pool): Promise<Week[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'call'::regclass ORDER BY 1`,
  );
  return rows.flatMap(({ name }) => weekNamed(name) ?? []);
}

/**
 * Makes the partition of a week; calls of it that lie in the default partition move there first. Many processes may do
 * it at once.
 * @throws TablesInUse when the default partition is read without a gap.
 */
export async function makeWeek(pool: Pool, week: Week): Promise<void> {
  const { name, fromId, toId } = week;
  if (await exists(pool, name)) return;
  await transact(pool, limits, async (client) => {
    await client.query('LOCK TABLE ONLY call IN SHARE UPDATE EXCLUSIVE MODE');
    if (await exists(client, name)) return;
    await client.query(`CREATE TABLE "${name}" (LIKE call INCLUDING ALL)`);
    await lockInGap(client, ['call_default']);
    await client.query(
      `WITH moved AS (DELETE FROM call_default WHERE id >= '${fromId}' AND id < '${toId}' RETURNING *)
       INSERT INTO "${name}" SELECT * FROM moved`,
    );
    await client.query(
      `ALTER TABLE call ATTACH PARTITION "${name}" FOR VALUES FROM ('${fromId}') TO ('${toId}')`,
    );
  });
}

/**
 * Moves every call of the default partition to a week, so that it stays empty: it gets calls from journals that came
 * late, or from a wrong clock.
 */
export async function emptyDefault(pool: Pool): Promise<void> {
  let fromId = weekAt(0).fromId;
  for (;;) {
    const { rows } = await pool.query<{ id: string }>(
      'SELECT id::text AS id FROM call_default WHERE id >= $1::uuid ORDER BY id LIMIT 1',
      [fromId],
    );
    const [first] = rows;
    if (!first || idTimeMs(first.id) >= latestMs) return;
    const week = weekAt(weekStart(idTimeMs(first.id)));
    await makeWeek(pool, week);
    fromId = week.toId;
  }
}

/**
 * Drops a week in milliseconds. Neither running calls nor their settlement wait for it: the lock is taken in a gap
 * between the transactions that use the log, or not at all.
 * @returns false if another process is changing weeks.
 * @throws TablesInUse, and Error of `leaving`: the week stays.
 */
export async function dropWeek(
  pool: Pool,
  week: Week,
  leaving: typeof closeCalls,
  patience?: Patience,
): Promise<boolean> {
  const { name, fromId, toId } = week;
  return transact(pool, limits, async (client) => {
    if (!(await takeTurn(client))) return false;
    if (!(await exists(client, name))) return true;
    // A late journal may still write to the week: it waits until the week is gone.
    await lockInGap(client, [name], { mode: 'SHARE', patience });
    await leaving(client, { workspaceId: null, fromId, toId, ids: null });
    await lockInGap(client, ['call', 'call_default', name], { patience });
    await client.query(`DROP TABLE "${name}"`);
    return true;
  });
}

async function exists(sql: Pool | PoolClient, name: string): Promise<boolean> {
  const found = await sql.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [name]);
  return found.rows[0]?.found === true;
}
