import { checks } from '#lib/control/billing/checks';
import { slicesOf } from '#lib/control/billing/slices';
import type { Db } from '#lib/platform/data/db';
import { type Query, readSnapshot } from '#lib/platform/data/transaction/read-snapshot';

export interface Verification {
  /** True when every check came back without a row. */
  readonly ok: boolean;
  /** The rows that break an invariant, at most 100 a check; amounts are decimal strings of nano-dollars. */
  readonly checks: readonly { readonly name: string; readonly rows: readonly unknown[] }[];
  /**
   * By how much all calls and jobs together were charged above their holds: the bound of the overshoot
   * (contract: money/overshoot).
   */
  readonly overHoldNano: bigint;
  /** Calls and jobs with a charge that retention has deleted; null: none. */
  readonly deleted: Deleted | null;
}

/** Deleted calls and jobs, which agreed with the ledger then, except for quarters that a check shows. */
export interface Deleted {
  /** When the last of them was settled. */
  readonly until: Date;
  readonly calls: bigint;
  readonly spentNano: bigint;
}

/** Compiling statements of so many expressions takes longer than running them; a slice of the log fits into memory. */
const settings = ['jit = off', "work_mem = '64MB'"];
/** The most rows that a check shows. */
const mostRows = 100;

/** Checks every invariant of money and logs, even while a gateway runs. @throws Error of the database. */
export function verifyLedger(db: Pick<Db, 'pool'>): Promise<Verification> {
  return readSnapshot(db, checkLedger);
}

/** The same inside of a snapshot that is open: the checks compare what they read with each other. */
export async function checkLedger(query: Query): Promise<Verification> {
  const found: { name: string; rows: unknown[]; remedy?: string }[] = [];
  for (const setting of settings) await query(`SET LOCAL ${setting}`);
  const slices = await slicesOf(query);
  for (const { name, sql, sliced, remedy } of checks) {
    const rows: unknown[] = [];
    for (const slice of sliced ? slices : [[]]) {
      rows.push(...(await query(`SELECT * FROM (${sql}) AS broken LIMIT ${mostRows - rows.length}`, slice)));
      if (rows.length >= mostRows) break;
    }
    found.push({ name, rows, ...(remedy !== undefined && rows.length > 0 ? { remedy } : {}) });
  }
  const [over] = await query<{ sum: string }>(
    `SELECT coalesce(sum(over_hold_nano), 0)::text AS sum
     FROM (SELECT over_hold_nano FROM call UNION ALL SELECT over_hold_nano FROM job
       UNION ALL SELECT over_hold_nano FROM adjustment) AS charged`,
  );
  const [gone] = await query<{ until: Date | null; calls: string; spent: string }>(
    `SELECT max(to_at) AS until, coalesce(sum(calls), 0)::text AS calls, coalesce(sum(spent_nano), 0)::text AS spent
     FROM ledger_check`,
  );
  const deleted = gone?.until
    ? { until: gone.until, calls: BigInt(gone.calls), spentNano: BigInt(gone.spent) }
    : null;
  const ok = found.every((check) => check.rows.length === 0);
  return { ok, checks: found, overHoldNano: BigInt(over?.sum ?? '0'), deleted };
}
