import type { Store } from '#lib/control/operations/store';
import { inZone } from '#lib/control/operations/time-zone';

/** What a key spent in each window, nano-dollars. */
export interface KeySpend {
  readonly dayNano: bigint;
  readonly d7Nano: bigint;
  readonly d30Nano: bigint;
}

const noSpend: KeySpend = { dayNano: 0n, d7Nano: 0n, d30Nano: 0n };

/** Whether a span [first, last] of whole minutes is in one window, so that it can be read as a whole. */
const inOne = (first: string, last: string) =>
  `${first} >= starts[1] AND width_bucket(${first}, starts) = width_bucket(${last}, starts)`;

/** A quarter of an hour is in one of the two tables; a single statement sees it once. */
const quarters = (table: string, ofKeys: string, more = '') => `
  SELECT key_id, width_bucket(quarter, starts) AS part, cost_nano AS nano FROM ${table}
  WHERE workspace_id = own AND ${ofKeys} AND quarter >= starts[1] ${more}
    AND ${inOne('quarter', "quarter + interval '14 minutes'")}`;

/**
 * Windows begin at a minute, so days and quarters that a window cuts are read by their parts: days by
 * quarters, quarters by minutes. `starts` are the first minutes of 30 days, of 7 days and of today, in this order.
 * @param whose condition of the keys `k`, by $1.
 * @param ofKeys condition of their rows of usage, besides the workspace.
 */
const statementFor = (whose: string, ofKeys: string) => `
  WITH edges AS MATERIALIZED (
    SELECT w.id AS own, array_agg(k.id) AS keys, ARRAY[
      date_trunc('minute', now.at - interval '720 hours') + interval '1 minute',
      date_trunc('minute', now.at - interval '168 hours') + interval '1 minute',
      date_trunc('day', now.at AT TIME ZONE zone) AT TIME ZONE zone] AS starts
    FROM api_key k JOIN workspace w ON w.id = k.workspace_id
    CROSS JOIN LATERAL (SELECT coalesce($2, w.time_zone) AS zone) AS z
    CROSS JOIN (SELECT coalesce($3::timestamptz, now()) AS at) AS now
    WHERE ${whose} GROUP BY w.id, zone, now.at
  ), days AS MATERIALIZED (
    SELECT own, keys, starts, day AS start, until AS stop FROM edges JOIN usage_span ON workspace_id = own
      AND ${inOne('day', "until - interval '1 minute'")} AND state <> 'due'
  ), gaps AS MATERIALIZED (
    SELECT own, keys, starts, stop AS start, lead(start, 1, 'infinity') OVER (PARTITION BY own ORDER BY stop) AS stop
    FROM (SELECT own, keys, starts, starts[1] AS start, starts[1] AS stop FROM edges UNION ALL TABLE days) AS bounds
  ), cut AS MATERIALIZED (
    SELECT keys, starts, greatest(quarter, starts[1]) AS start, quarter + interval '15 minutes' AS stop
    FROM edges, LATERAL (SELECT date_bin('15 minutes', at, '2000-01-01T00:00:00Z') AS quarter, at
      FROM unnest(starts[1:2]) AS at) AS edge WHERE at > quarter
  ), spent AS (
    SELECT part.* FROM days, LATERAL (
      SELECT key_id, width_bucket(day, starts) AS part, cost_nano AS nano FROM usage_day_key
      WHERE workspace_id = own AND day = start AND ${ofKeys}
    ) AS part
    UNION ALL SELECT part.* FROM gaps, LATERAL (
      ${quarters('usage_quarter_counted', ofKeys, 'AND quarter >= start AND quarter < stop')}) AS part WHERE start < stop
    UNION ALL SELECT part.* FROM edges, LATERAL (${quarters('usage_quarter', ofKeys)}) AS part
    UNION ALL SELECT key_id, width_bucket(minute, starts), spent_nano
    FROM cut, unnest(keys) AS k (id) JOIN spend_minute ON key_id = k.id
    WHERE minute >= start AND minute < stop
  )
  SELECT key_id::text AS id, coalesce(sum(nano) FILTER (WHERE part = 3), 0)::text AS day,
    coalesce(sum(nano) FILTER (WHERE part >= 2), 0)::text AS d7, sum(nano)::text AS d30
  FROM spent GROUP BY key_id`;

const ofSomeKeys = statementFor('k.id = ANY ($1::uuid[])', 'key_id = ANY (keys)');
/** Comparing each row with thousands of keys would take seconds. */
const ofAllKeys = statementFor('k.workspace_id = $1::uuid AND k.session_id IS NULL', 'TRUE');

/**
 * What keys spent today in their workspace's time zone, in 168 hours and in 720 hours. The same
 * sums as in `spend_minute`, by which admission enforces caps, but from the days and quarters of usage: every minute
 * of 30 days for many keys is too much to read for a page.
 * @param at the end of the windows; null: the database's clock.
 * @throws Error of the database.
 */
export async function readSpend(
  store: Pick<Store, 'query'>,
  ids: readonly string[],
  at: Date | null = null,
): Promise<(id: string) => KeySpend> {
  const rows = await inZone(null, (zone) =>
    store.query<{ id: string; day: string; d7: string; d30: string }>(ofSomeKeys, [ids, zone, at]),
  );
  const found = new Map<string, KeySpend>();
  for (const { id, day, d7, d30 } of rows) {
    found.set(id, { dayNano: BigInt(day), d7Nano: BigInt(d7), d30Nano: BigInt(d30) });
  }
  return (id) => found.get(id) ?? noSpend;
}

/** What every key of a workspace that spent anything in 720 hours spent in them, nano-dollars by id. */
export async function readSpendOfAll(
  store: Pick<Store, 'query'>,
  workspaceId: string,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await inZone(null, (zone) =>
    store.query<{ id: string; d30: string }>(ofAllKeys, [workspaceId, zone, null]),
  );
  return new Map(rows.map(({ id, d30 }) => [id, BigInt(d30)]));
}
