import type { Pool } from 'pg';
import { noOwnKeysAllowed } from '#lib/core/facts/own-key-rules';
import {
  type Caps,
  type ContentRule,
  type KeyFacts,
  type KeySnapshot,
  type MaskKind,
  maskKinds,
  type Policy,
  type RepeatRule,
  type WorkspaceFacts,
} from '#lib/core/facts/snapshot';
import { may, roles } from '#lib/core/role';
import { parsePolicy, withTranslate } from '#lib/core/schemas/policy';
import { type OwnKeyRow, type OwnKeySources, ownKeyJson, ownKeyOf } from '#lib/gateway/snapshot/own-keys';
import { type TagRulesRow, tagRulesOf } from '#lib/gateway/snapshot/tag-rules';
import { queryWithin } from '#lib/platform/data/query-within';

const limitsOf = (table: string) =>
  `jsonb_build_object('rpm', ${table}.rpm, 'tpm', ${table}.tpm, 'concurrency', ${table}.concurrency)`;

/** One statement: the key by its current or rotated-out hash, its workspace, the policies in force. */
const statement = `
  SELECT k.id, k.name, k.status, k.quota_exhausted AS "quotaExhausted", k.max_output_tokens AS "maxOutputTokens",
    CASE WHEN NOT k.all_models THEN coalesce(k.models, '{}') END AS models, k.daily_cap_nano AS "dayNano",
    k.d7_cap_nano AS "d7Nano", k.d30_cap_nano AS "d30Nano", k.quota_nano AS "quotaNano", ${limitsOf('k')} AS limits,
    k.expires_at AS "expiresAt", k.hash = $1 AS current, k.old_hash_until AS "oldHashUntil",
    k.created_by IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM member m WHERE m.workspace_id = k.workspace_id AND m.user_id = k.created_by
    ) AS "ownerRemoved",
    k.session_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM session s JOIN "user" u ON u.id = s.user_id AND u.session_version = s.version
      LEFT JOIN member m ON m.workspace_id = k.workspace_id AND m.user_id = u.id
      WHERE s.id = k.session_id AND s.ends_at > now() AND (u.operator OR m.role = ANY ($2::text[]))
    ) AS "sessionEnded",
    jsonb_build_object('mode', CASE k.content WHEN 'inherit' THEN w.content ELSE k.content END,
      'share', w.content_share, 'days', w.content_days, 'keys', w.mask_keys, 'mail', w.mask_mail,
      'cards', w.mask_cards, 'phones', w.mask_phones, 'patterns', w.mask_patterns) AS content,
    jsonb_build_object('idempotency', CASE k.idempotency WHEN 'inherit' THEN w.idempotency ELSE k.idempotency = 'on' END,
      'cache', CASE k.cache WHEN 'inherit' THEN w.cache ELSE k.cache END,
      'cacheSeconds', w.cache_seconds) AS repeats,
    jsonb_build_object('id', w.id, 'slug', w.slug, 'timeZone', w.time_zone, 'strict', w.strict,
      'suspended', w.suspended_at IS NOT NULL, 'limits', ${limitsOf('w')}) AS workspace,
    (SELECT coalesce(jsonb_object_agg(p.model_id, jsonb_build_array(p.policy, p.translate)), '{}') FROM (
      SELECT DISTINCT ON (model_id) model_id, policy, translate FROM policy
      WHERE workspace_id = k.workspace_id ORDER BY model_id, version DESC
    ) p) AS policies,
    CASE WHEN w.tags OR w.end_users THEN jsonb_build_object('tags', w.tags, 'endUsers', w.end_users, 'budgets', (
      SELECT coalesce(jsonb_agg(jsonb_build_object('name', b.name, 'value', b.value, 'day', b.daily_cap_nano::text,
        'd7', b.d7_cap_nano::text, 'd30', b.d30_cap_nano::text, 'rpm', b.rpm, 'tpm', b.tpm)), '[]')
      FROM tag_budget b WHERE b.workspace_id = w.id
    )) END AS "tagRules",
    (SELECT jsonb_agg(${ownKeyJson} ORDER BY o.created_at, o.id) FROM own_key o
      WHERE o.workspace_id = k.workspace_id AND o.secret IS NOT NULL) AS "ownKeys"
  FROM api_key k JOIN workspace w ON w.id = k.workspace_id
  WHERE k.hash = $1 OR k.old_hash = $1`;

/** How long the database may take. */
const timeoutMs = 2_000;

/** The roles that have a playground. */
const playing = roles.filter((role) => may(role, 'playground:use'));

type Row = Omit<KeyFacts, 'status' | 'models' | 'caps' | 'expiresAtMs'> &
  Readonly<Record<keyof Caps, string | null>> & {
    readonly status: string;
    readonly models: readonly string[] | null;
    readonly expiresAt: Date | null;
    /** Whether the hash is that of the current secret. */
    readonly current: boolean;
    readonly oldHashUntil: Date | null;
    readonly workspace: WorkspaceFacts;
    readonly content: Pick<ContentRule, 'share' | 'days'> & { readonly mode: string } & Readonly<
        Record<MaskKind, boolean>
      > & { readonly patterns: string | null };
    readonly repeats: Omit<RepeatRule, 'cache'> & { readonly cache: string };
    /** By model: the policy without `translate`, and that. */
    readonly policies: Readonly<Record<string, readonly [policy: unknown, translate: string | null]>>;
    /** null: there are none. */
    readonly ownKeys: readonly OwnKeyRow[] | null;
    readonly tagRules: TagRulesRow | null;
  };

/**
 * The snapshot of a key by the hash of a secret (HMAC, 32 bytes); null when no key has or had it.
 * A rotated-out secret comes with its end time, also when that has passed.
 * @throws when the database cannot answer.
 */
export async function loadKey(
  pool: Pool,
  hash: Uint8Array,
  sources: OwnKeySources = { rules: noOwnKeysAllowed, sealingKey: null },
): Promise<KeySnapshot | null> {
  const { rows } = await queryWithin(pool, timeoutMs)<Row>(statement, [hash, playing]);
  const row = rows.find((found) => found.current) ?? rows[0];
  return row === undefined ? null : snapshotOf(row, sources);
}

function snapshotOf(row: Row, sources: OwnKeySources): KeySnapshot {
  const { id, name, status, quotaExhausted, maxOutputTokens, limits, ownerRemoved, sessionEnded } = row;
  return {
    key: {
      id,
      name,
      status: status === 'active' || status === 'revoked' ? status : 'inactive',
      quotaExhausted,
      models: row.models && new Set(row.models),
      maxOutputTokens,
      caps: {
        dayNano: nano(row.dayNano),
        d7Nano: nano(row.d7Nano),
        d30Nano: nano(row.d30Nano),
        quotaNano: nano(row.quotaNano),
      },
      limits,
      expiresAtMs: row.expiresAt?.getTime() ?? null,
      ownerRemoved,
      sessionEnded,
    },
    workspace: row.workspace,
    policies: new Map<string, Policy>(
      Object.entries(row.policies).map(([model, stored]) => [model, policyOf(withTranslate(...stored))]),
    ),
    ...(row.ownKeys && { ownKeys: row.ownKeys.map((one) => ownKeyOf(one, sources)) }),
    content: contentRuleOf(row.content),
    ...repeatsOf(row.repeats),
    ...(row.tagRules && { tagRules: tagRulesOf(row.tagRules) }),
    secretUntilMs: row.current ? null : (row.oldHashUntil?.getTime() ?? 0),
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

/** An unknown word keeps nothing. */
function contentRuleOf({ mode, share, days, patterns, ...kinds }: Row['content']): ContentRule | null {
  if (mode !== 'all' && mode !== 'errors') return null;
  const ready = maskKinds.filter((kind) => kinds[kind]);
  return {
    mode,
    share,
    days,
    ...((ready.length > 0 || patterns !== null) && { masks: { ready, patterns } }),
  };
}

/** An unknown word caches nothing. */
function repeatsOf({ idempotency, cache, cacheSeconds }: Row['repeats']): Pick<KeySnapshot, 'repeats'> {
  const cached = cache === 'all' || cache === 'asked' ? cache : null;
  return idempotency || cached !== null ? { repeats: { idempotency, cache: cached, cacheSeconds } } : {};
}

function nano(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}
