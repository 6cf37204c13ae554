import type { Pool } from 'pg';
import type { KeySnapshot, Policy } from '#lib/core/facts/snapshot';
import { may, roles } from '#lib/core/role';
import { parsePolicy } from '#lib/core/schemas/policy';

/** One statement: the key by its current or rotated-out hash, its workspace, the policies in force. */
const statement = `
  SELECT k.id, k.name, k.status, k.quota_exhausted, k.all_models, k.models, k.max_output_tokens,
    k.daily_cap_nano, k.d7_cap_nano, k.d30_cap_nano, k.quota_nano, k.rpm, k.tpm, k.concurrency,
    k.expires_at, k.hash = $1 AS current, k.old_hash_until,
    k.created_by IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM member m WHERE m.workspace_id = k.workspace_id AND m.user_id = k.created_by
    ) AS owner_removed,
    k.session_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM session s JOIN "user" u ON u.id = s.user_id AND u.session_version = s.version
      LEFT JOIN member m ON m.workspace_id = k.workspace_id AND m.user_id = u.id
      WHERE s.id = k.session_id AND s.ends_at > now() AND (u.operator OR m.role = ANY ($2::text[]))
    ) AS session_ended,
    w.id AS workspace_id, w.slug, w.time_zone, w.strict, w.suspended_at,
    w.rpm AS workspace_rpm, w.tpm AS workspace_tpm, w.concurrency AS workspace_concurrency,
    (SELECT coalesce(jsonb_object_agg(p.model_id, p.policy), '{}') FROM (
      SELECT DISTINCT ON (model_id) model_id, policy FROM policy
      WHERE workspace_id = k.workspace_id ORDER BY model_id, version DESC
    ) p) AS policies
  FROM api_key k JOIN workspace w ON w.id = k.workspace_id
  WHERE k.hash = $1 OR k.old_hash = $1`;

/** The roles that have a playground. */
const playing = roles.filter((role) => may(role, 'playground:use'));

interface Row {
  id: string;
  name: string;
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
  current: boolean;
  old_hash_until: Date | null;
  owner_removed: boolean;
  session_ended: boolean;
  workspace_id: string;
  slug: string;
  time_zone: string;
  strict: boolean;
  suspended_at: Date | null;
  workspace_rpm: number | null;
  workspace_tpm: number | null;
  workspace_concurrency: number | null;
  policies: Record<string, unknown>;
}

/** pg takes `query_timeout` with each query, though its types know it on the client alone. */
function timedQuery(text: string, values: unknown[], timeoutMs: number) {
  return { text, values, query_timeout: timeoutMs };
}

/**
 * The snapshot of a key by the hash of a secret (HMAC, 32 bytes); null when no key has or had it.
 * A rotated-out secret comes with its end time, also when that has passed.
 * @param timeoutMs how long the database may take.
 * @throws when the database cannot answer.
 */
export async function loadKey(pool: Pool, hash: Uint8Array, timeoutMs = 2_000): Promise<KeySnapshot | null> {
  const { rows } = await pool.query<Row>(timedQuery(statement, [hash, playing], timeoutMs));
  const row = rows.find((found) => found.current) ?? rows[0];
  return row === undefined ? null : snapshotOf(row);
}

function snapshotOf(row: Row): KeySnapshot {
  return {
    key: {
      id: row.id,
      name: row.name,
      status: row.status === 'active' || row.status === 'revoked' ? row.status : 'inactive',
      quotaExhausted: row.quota_exhausted,
      models: row.all_models ? null : new Set(row.models ?? []),
      maxOutputTokens: row.max_output_tokens,
      caps: {
        dayNano: nano(row.daily_cap_nano),
        d7Nano: nano(row.d7_cap_nano),
        d30Nano: nano(row.d30_cap_nano),
        quotaNano: nano(row.quota_nano),
      },
      limits: { rpm: row.rpm, tpm: row.tpm, concurrency: row.concurrency },
      expiresAtMs: row.expires_at?.getTime() ?? null,
      ownerRemoved: row.owner_removed,
      sessionEnded: row.session_ended,
    },
    workspace: {
      id: row.workspace_id,
      slug: row.slug,
      timeZone: row.time_zone,
      strict: row.strict,
      suspended: row.suspended_at !== null,
      limits: {
        rpm: row.workspace_rpm,
        tpm: row.workspace_tpm,
        concurrency: row.workspace_concurrency,
      },
    },
    policies: new Map<string, Policy>(
      Object.entries(row.policies).map(([model, stored]) => [model, policyOf(stored)]),
    ),
    secretUntilMs: row.current ? null : (row.old_hash_until?.getTime() ?? 0),
  };
}

/**
 * A stored policy. One that cannot be read (written past the verbs) leaves no offer: it may have been
 * a ban, so it must not fall open, and it must not take other keys' look-ups down either.
 */
function policyOf(stored: unknown): Policy {
  try {
    return parsePolicy(stored);
  } catch {
    return { only: ['(the stored policy cannot be read: set it again)'] };
  }
}

function nano(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}
