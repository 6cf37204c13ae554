import type { Pool, PoolClient } from 'pg';
import type { FamilyId } from '#lib/core/families/ids';
import type { UsageReport } from '#lib/core/metering/usage';
import { type PricesOf, settleAdjustment } from '#lib/gateway/jobs/adjustments/settle-adjustment';
import type { FlaggedCharge } from '#lib/gateway/metrics/charge-flags';
import { jsonText } from '#lib/platform/data/json-text';
import { type Query, queryWithin } from '#lib/platform/data/query-within';
import { repeatable } from '#lib/platform/data/transaction/repeatable';

/** The call that made a response which its provider stores. */
export interface StoredBy {
  readonly callId: string;
  readonly workspaceId: string;
  readonly providerId: string;
  readonly family: FamilyId;
}

/** Time limit of queries while a client waits, ms. */
const LIMIT_MS = 2_000;
/** Most adjustments settled per round. */
const MOST_AT_ONCE = 100;
/** How long an adjustment that failed waits before it is tried again, ms. */
const FAILED_MS = 600_000;

const source = `
  SELECT coalesce(j.usage_source, c.usage_source) AS source, j.call_id IS NOT NULL AND j.settled_at IS NULL AS open
  FROM call c LEFT JOIN job j ON j.call_id = c.id WHERE c.id = $1`;

const keep = `
  INSERT INTO adjustment (call_id, workspace_id, report, seen_at, flags) VALUES ($1, $2, $3, $4, '{}')
  ON CONFLICT (call_id) DO NOTHING`;

const ready = `
  SELECT a.call_id FROM adjustment a
  WHERE a.settled_at IS NULL AND a.call_id <> ALL ($1::uuid[])
    AND EXISTS (SELECT FROM call c WHERE c.id = a.call_id)
    AND NOT EXISTS (SELECT FROM job j WHERE j.call_id = a.call_id AND j.settled_at IS NULL)
  ORDER BY a.seen_at LIMIT ${MOST_AT_ONCE}`;

/** Adjustments and their money in PostgreSQL. Times are ms since the epoch. */
export class AdjustmentStore {
  readonly #pool: Pool;
  readonly #query: Query;
  readonly #pricesOf: PricesOf;
  readonly #charged: (charge: FlaggedCharge) => void;
  readonly #report: (error: unknown, callId: string) => void;
  /** When each adjustment that failed may be tried again, ms since the epoch. */
  readonly #failedUntilMs = new Map<string, number>();

  /**
   * @param charged called for each adjustment with flags, after its commit.
   * @param report receives the error of each stored report that fails.
   */
  constructor(
    pool: Pool,
    pricesOf: PricesOf,
    charged: (charge: FlaggedCharge) => void = () => {},
    report: (error: unknown, callId: string) => void = () => {},
  ) {
    this.#pool = pool;
    this.#query = queryWithin(pool, LIMIT_MS);
    this.#pricesOf = pricesOf;
    this.#charged = charged;
    this.#report = report;
  }

  /**
   * Settles a call by a later report, in one transaction.
   * @returns `done`: nothing remains; `waits`: the report is stored until the call's row exists; `open`: the call is a
   * job whose own settlement comes first.
   */
  async settle(
    { callId, workspaceId }: StoredBy,
    report: UsageReport,
    atMs: number,
  ): Promise<'done' | 'waits' | 'open'> {
    // Most calls were charged by reported usage: nothing is written for them.
    const { rows } = await this.#query<{ source: string; open: boolean }>(source, [callId]);
    if (rows[0]?.open) return 'open';
    if (rows[0]?.source === 'reported') return 'done';
    const values = [callId, workspaceId, jsonText(report), new Date(atMs)];
    const settled = await this.#settleOne(callId, atMs, (client) => client.query(keep, values));
    return settled ? 'done' : 'waits';
  }

  /**
   * Settles stored reports whose calls exist by now and are no running jobs. One that fails is reported, holds up no
   * other, and is tried again after ten minutes.
   * @returns whether any still waits.
   * @throws Error of a database that cannot be reached.
   */
  async settleWaiting(atMs: number): Promise<boolean> {
    const failed = this.#failedUntilMs;
    for (const [callId, untilMs] of failed) if (untilMs <= atMs) failed.delete(callId);
    const { rows } = await this.#query<{ call_id: string }>(ready, [[...failed.keys()]]);
    for (const { call_id: callId } of rows) {
      try {
        await this.#settleOne(callId, atMs, async () => {});
      } catch (error) {
        // The round ends here when the failure is the database's: no other adjustment would succeed.
        await this.#query('SELECT 1');
        failed.set(callId, atMs + FAILED_MS);
        this.#report(error, callId);
      }
    }
    const left = await this.#query('SELECT 1 FROM adjustment WHERE settled_at IS NULL LIMIT 1');
    return left.rows.length > 0;
  }

  /** @param first runs at the start of the transaction. @returns false: the adjustment waits. */
  async #settleOne(
    callId: string,
    atMs: number,
    first: (client: PoolClient) => Promise<unknown>,
  ): Promise<boolean> {
    const settled = await repeatable(this.#pool, async (client) => {
      await first(client);
      return settleAdjustment(client, callId, this.#pricesOf, atMs);
    });
    if (settled?.flagged) this.#charged(settled.flagged);
    return settled !== null;
  }
}
