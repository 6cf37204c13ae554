import type { Db } from '#lib/data/db';
import { formatUsd } from '#lib/money';

export type UsageBy = 'model' | 'key' | 'provider' | 'day';

/** One group of the usage report; money in dollars. */
export interface UsageRow {
  /** Model id, key id, provider id, or day "2026-07-02" in the workspace's zone. */
  group: string;
  /** The key's name when grouped by key. */
  name: string | null;
  calls: number;
  errors: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  cost: string;
}

/** Columns to group by; the only text that enters the statement, never taken from outside. */
const groups: Readonly<Record<UsageBy, string>> = {
  model: 'u.model',
  key: 'u.key_id::text',
  provider: 'u.provider',
  day: `to_char(u.hour AT TIME ZONE w.time_zone, 'YYYY-MM-DD')`,
};

interface StoredRow {
  grp: string;
  name: string | null;
  calls: string;
  errors: string;
  input_tokens: string;
  cached_tokens: string;
  output_tokens: string;
  cost_nano: string;
}

/**
 * Usage of a workspace from the hourly roll-up: dearest group first, days in order.
 * @param query `fromMs` and `toMs` since the epoch, [from, to); whole hours count, the one that holds
 * `fromMs` included. An hour that a local midnight cuts belongs to the day in which it starts.
 */
export async function readUsage(
  db: Db,
  query: { workspaceId: string; fromMs: number; toMs: number; by: UsageBy },
): Promise<UsageRow[]> {
  const group = groups[query.by];
  const { rows } = await db.pool.query<StoredRow>(
    `SELECT ${group} AS grp, ${query.by === 'key' ? 'max(k.name)' : 'NULL'} AS name,
       sum(u.calls) AS calls, sum(u.errors) AS errors, sum(u.input_tokens) AS input_tokens,
       sum(u.cached_tokens) AS cached_tokens, sum(u.output_tokens) AS output_tokens,
       sum(u.cost_nano) AS cost_nano
     FROM usage_hour u JOIN workspace w ON w.id = u.workspace_id LEFT JOIN api_key k ON k.id = u.key_id
     WHERE u.workspace_id = $1 AND u.hour >= date_trunc('hour', $2::timestamptz) AND u.hour < $3::timestamptz
     GROUP BY 1 ORDER BY ${query.by === 'day' ? '1' : 'cost_nano DESC, 1'}`,
    [query.workspaceId, new Date(query.fromMs), new Date(query.toMs)],
  );
  return rows.map((row) => ({
    group: row.grp,
    name: row.name,
    calls: Number(row.calls),
    errors: Number(row.errors),
    inputTokens: Number(row.input_tokens),
    cachedTokens: Number(row.cached_tokens),
    outputTokens: Number(row.output_tokens),
    cost: formatUsd(BigInt(row.cost_nano)),
  }));
}
