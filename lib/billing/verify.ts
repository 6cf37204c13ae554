import { checks } from '#lib/billing/checks';
import type { Db } from '#lib/data/db';

export interface Verification {
  /** True when every check came back without a row. */
  readonly ok: boolean;
  /** The rows that break an invariant, at most 100 a check; amounts are decimal strings of nano-dollars. */
  readonly checks: readonly { readonly name: string; readonly rows: readonly unknown[] }[];
  /** What calls and jobs were charged above their holds, all together: the bound of the overshoot (decisions §6). */
  readonly overHoldNano: bigint;
}

/**
 * Checks every invariant of money and logs on one snapshot of the database, beside a running gateway
 * too (operations.md "ledger verify").
 * @throws Error of the database.
 */
export async function verifyLedger(db: Pick<Db, 'pool'>): Promise<Verification> {
  const client = await db.pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const found: { name: string; rows: unknown[] }[] = [];
    for (const { name, sql } of checks) {
      const { rows } = await client.query(`SELECT * FROM (${sql}) AS broken LIMIT 100`);
      found.push({ name, rows });
    }
    const over = await client.query<{ sum: string }>(
      `SELECT coalesce(sum(over_hold_nano), 0)::text AS sum
       FROM (SELECT over_hold_nano FROM call UNION ALL SELECT over_hold_nano FROM job
         UNION ALL SELECT over_hold_nano FROM adjustment) AS charged`,
    );
    await client.query('COMMIT');
    client.release();
    const ok = found.every((check) => check.rows.length === 0);
    return { ok, checks: found, overHoldNano: BigInt(over.rows[0]?.sum ?? '0') };
  } catch (error) {
    client.release(true);
    throw error;
  }
}
