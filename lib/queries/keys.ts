import type { Db } from '#lib/data/db';
import { formatUsd } from '#lib/money';
import { isUuid } from '#lib/verbs/inputs';

/** Dollars as decimal strings. */
export interface FoundSpend {
  /** Since midnight in the workspace's time zone. */
  readonly day: string;
  /** The last 168 hours. */
  readonly d7: string;
  /** The last 720 hours. */
  readonly d30: string;
}

/** An API key as "key show" prints it (operations.md). Money in dollars as decimal strings, times in ISO. */
export interface FoundKey {
  readonly id: string;
  readonly name: string;
  /** Slug of its workspace. */
  readonly workspace: string;
  readonly status: string;
  readonly quotaExhausted: boolean;
  /** null: every model of the catalogue. */
  readonly models: readonly string[] | null;
  readonly maxOutputTokens: number | null;
  readonly dailyCap: string | null;
  readonly d7Cap: string | null;
  readonly d30Cap: string | null;
  readonly quota: string | null;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  readonly expiresAt: string | null;
  /** Settled spend; what running calls hold comes on top. */
  readonly spent: FoundSpend;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
  /** First 7 and last 4 characters: all that is kept in the clear. */
  readonly display: string;
}

/** A key of a list. */
export interface ListedKey extends FoundKey {
  /** The member who made it is gone from the workspace, so its calls are refused (decisions §9). */
  readonly ownerRemoved: boolean;
}

export interface KeyPage {
  readonly keys: ListedKey[];
  /** Pass as `after` for the next page; null: no more. */
  readonly next: string | null;
}

interface Row {
  id: string;
  name: string;
  workspace: string;
  status: string;
  quota_exhausted: boolean;
  all_models: boolean;
  models: string[] | null;
  max_output_tokens: number | null;
  daily_cap_nano: string | null;
  d7_cap_nano: string | null;
  d30_cap_nano: string | null;
  quota_nano: string | null;
  rpm: number | null;
  tpm: number | null;
  concurrency: number | null;
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
  display_start: string;
  display_end: string;
  owner_removed: boolean;
  day: string | null;
  d7: string | null;
  d30: string | null;
}

/** PostgreSQL: invalid_parameter_value. */
const unknownZone = '22023';

/** Spend counts in the minute of its admission, so a window starts with the minute that holds its edge. */
const selectFrom = (keys: string) => `
  SELECT k.id, k.name, w.slug AS workspace, k.status, k.quota_exhausted, k.all_models, k.models,
    k.max_output_tokens, k.daily_cap_nano, k.d7_cap_nano, k.d30_cap_nano, k.quota_nano, k.rpm, k.tpm,
    k.concurrency, k.expires_at, k.last_used_at, k.created_at, k.display_start, k.display_end,
    k.created_by IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM member m WHERE m.workspace_id = k.workspace_id AND m.user_id = k.created_by
    ) AS owner_removed, s.day, s.d7, s.d30
  FROM ${keys} k JOIN workspace w ON w.id = k.workspace_id
  CROSS JOIN LATERAL (SELECT coalesce($1, w.time_zone) AS zone) z
  LEFT JOIN LATERAL (
    SELECT sum(spent_nano) FILTER (WHERE minute >=
        date_trunc('day', now() AT TIME ZONE z.zone) AT TIME ZONE z.zone) AS day,
      sum(spent_nano) FILTER (WHERE minute > now() - interval '168 hours') AS d7,
      sum(spent_nano) AS d30
    FROM spend_minute WHERE key_id = k.id AND minute > now() - interval '720 hours'
  ) s ON true`;

/**
 * One key by its id; null when there is none.
 * @param workspaceId where a member looks: a key of another workspace is then as good as none.
 */
export async function findKey(
  db: Db,
  id: string,
  workspaceId: string | null = null,
): Promise<FoundKey | null> {
  if (!isUuid(id)) return null;
  const where = 'k.id = $2 AND ($3::uuid IS NULL OR k.workspace_id = $3)';
  const rows = await readKeys(db, `${selectFrom('api_key')} WHERE ${where}`, [id, workspaceId]);
  return rows[0] === undefined ? null : shown(rows[0]);
}

/** Revoked ones below those that matter, the newest first: an order that pages can follow. */
const listOrder = "(k.status = 'revoked'), k.created_at DESC, k.id DESC";

/**
 * Keys of a workspace, revoked ones at the end, the newest first. A page says where it ended by the last
 * key's place at that time, so that keys made or revoked meanwhile move none of the following pages.
 * @param page `search`: part of a name, of the displayed characters, or a whole id. `after`: `next` of the
 * page before. `limit`: at most 500.
 */
export async function listKeys(
  db: Db,
  workspaceId: string,
  page: { search?: string | undefined; after?: string | undefined; limit?: number } = {},
): Promise<KeyPage> {
  const search = page.search?.trim() ?? '';
  const [, revoked, id] = /^([01])\.([0-9a-f-]{36})$/.exec(page.after ?? '') ?? [];
  if (search.includes('\0') || (page.after !== undefined && !isUuid(id ?? '')))
    return { keys: [], next: null };
  const limit = Math.max(1, Math.min(500, page.limit ?? 500));
  const keys = `(SELECT * FROM api_key k
    WHERE k.workspace_id = $2
      AND ($3 = '' OR strpos(lower(k.name), lower($3)) > 0
        OR strpos(k.display_start || '…' || k.display_end, $3) > 0 OR k.id::text = lower($3))
      AND ($4::uuid IS NULL OR (k.status = 'revoked') > $5 OR ((k.status = 'revoked') = $5
        AND (k.created_at, k.id) < (SELECT a.created_at, a.id FROM api_key a WHERE a.id = $4)))
    ORDER BY ${listOrder} LIMIT $6)`;
  const values = [workspaceId, search, id ?? null, revoked === '1', limit + 1];
  const rows = await readKeys(db, `${selectFrom(keys)} ORDER BY ${listOrder}`, values);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    keys: rows.slice(0, limit).map((row) => ({ ...shown(row), ownerRemoved: row.owner_removed })),
    next: last ? `${last.status === 'revoked' ? 1 : 0}.${last.id}` : null,
  };
}

/** The names of the newest keys of a workspace, and of one more key there: `chosen`. */
export async function listKeyNames(
  db: Db,
  query: { workspaceId: string; limit: number; chosen: string | undefined },
): Promise<{ id: string; name: string }[]> {
  const chosen = isUuid(query.chosen ?? '') ? query.chosen : null;
  const { rows } = await db.pool.query<{ id: string; name: string }>(
    `(SELECT id, name FROM api_key WHERE workspace_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2)
     UNION SELECT id, name FROM api_key WHERE workspace_id = $1 AND id = $3
     ORDER BY name, id`,
    [query.workspaceId, query.limit, chosen],
  );
  return rows;
}

/** $1 stands in for the time zone when the stored one is unknown to the database (written past the verbs). */
async function readKeys(db: Db, text: string, values: unknown[]): Promise<Row[]> {
  try {
    return (await db.pool.query<Row>(text, [null, ...values])).rows;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === unknownZone)) throw error;
    return (await db.pool.query<Row>(text, ['UTC', ...values])).rows;
  }
}

function shown(row: Row): FoundKey {
  return {
    id: row.id,
    name: row.name,
    workspace: row.workspace,
    status: row.status,
    quotaExhausted: row.quota_exhausted,
    models: row.all_models ? null : (row.models ?? []),
    maxOutputTokens: row.max_output_tokens,
    dailyCap: usd(row.daily_cap_nano),
    d7Cap: usd(row.d7_cap_nano),
    d30Cap: usd(row.d30_cap_nano),
    quota: usd(row.quota_nano),
    rpm: row.rpm,
    tpm: row.tpm,
    concurrency: row.concurrency,
    expiresAt: row.expires_at?.toISOString() ?? null,
    spent: { day: usd(row.day) ?? '0', d7: usd(row.d7) ?? '0', d30: usd(row.d30) ?? '0' },
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    display: `${row.display_start}…${row.display_end}`,
  };
}

function usd(nano: string | null): string | null {
  return nano === null ? null : formatUsd(BigInt(nano));
}
