import type { Pool } from 'pg';
import type { AlertData } from '#lib/control/alerts/events';
import type { Found } from '#lib/control/alerts/kinds';
import type { PauseReason } from '#lib/control/billing/auto/pause';
import { readAllBudgets } from '#lib/control/billing/month';
import { goodScore } from '#lib/core/facts/feedback';
import { formatUsd } from '#lib/core/money';

/** Days before its expiry on which a key raises an alert: the first and the last. */
const expiryDays = [7, 1] as const;
const retiringDays = 30;
/** An offer is in trouble if, of at least this many calls in an hour, this percentage failed. */
const troubleCalls = 20;
const troublePercent = 20;

const activeKeys = `api_key k JOIN workspace w ON w.id = k.workspace_id
  WHERE k.status = 'active' AND k.session_id IS NULL AND w.deleted_at IS NULL AND NOT w.demo`;

/**
 * The windows are those of `key.show`: whole minutes, and days in the workspace's time zone. Only the minutes of the
 * longest window that has a cap are read: 30 days of thousands of keys would take a minute.
 */
const caps = `
  SELECT k.id::text AS key, k.workspace_id::text AS workspace, k.name, c.limit_name AS "limit", c.spent::text, c.cap::text
  FROM (SELECT k.*, date_trunc('day', now() AT TIME ZONE w.time_zone) AT TIME ZONE w.time_zone AS today FROM ${activeKeys}
    AND (k.daily_cap_nano IS NOT NULL OR k.d7_cap_nano IS NOT NULL OR k.d30_cap_nano IS NOT NULL
      OR k.quota_nano IS NOT NULL)) k
  LEFT JOIN LATERAL (
    SELECT sum(spent_nano) FILTER (WHERE minute >= k.today) AS day,
      sum(spent_nano) FILTER (WHERE minute > now() - interval '168 hours') AS d7, sum(spent_nano) AS d30
    FROM spend_minute WHERE key_id = k.id AND minute > now() - interval '720 hours' AND minute >= CASE
      WHEN k.d30_cap_nano IS NOT NULL THEN now() - interval '720 hours'
      WHEN k.d7_cap_nano IS NOT NULL THEN least(k.today, now() - interval '168 hours')
      WHEN k.daily_cap_nano IS NOT NULL THEN k.today ELSE now() END
  ) s ON true
  CROSS JOIN LATERAL (VALUES ('the daily cap', s.day, k.daily_cap_nano), ('the 7-day cap', s.d7, k.d7_cap_nano),
    ('the 30-day cap', s.d30, k.d30_cap_nano), ('the quota', k.spent_nano, k.quota_nano)) AS c (limit_name, spent, cap)
  WHERE c.cap IS NOT NULL AND c.spent * 10 >= c.cap * 8`;

const refused = `
  SELECT DISTINCT c.workspace_id::text AS workspace, c.error_code AS code
  FROM workspace w CROSS JOIN LATERAL (
    SELECT id, workspace_id, at, error_code FROM call WHERE workspace_id = w.id AND status >= 400 ORDER BY id DESC LIMIT 200
  ) c
  WHERE w.deleted_at IS NULL AND NOT w.demo AND c.at > now() - interval '5 minutes'
    AND c.error_code IN ('workspace_rpm_exceeded', 'workspace_tpm_exceeded', 'workspace_concurrency_exceeded')
    AND EXISTS (SELECT FROM usage_quarter u WHERE u.workspace_id = w.id AND u.quarter > now() - interval '30 minutes'
      AND u.limit_errors > 0)`;

const expiring = `
  SELECT k.id::text AS key, k.workspace_id::text AS workspace, k.name, k.expires_at
  FROM ${activeKeys} AND k.expires_at > now() AND k.expires_at < now() + make_interval(days => ${expiryDays[0]})`;

const trouble = `
  SELECT u.workspace_id::text AS workspace, u.model, u.provider, sum(u.calls)::int AS calls,
    sum(u.provider_errors + u.timeout_errors + u.broken_errors)::int AS failed
  FROM usage_quarter u JOIN workspace w ON w.id = u.workspace_id
  WHERE u.quarter > now() - interval '60 minutes' AND u.provider <> '' AND w.deleted_at IS NULL AND NOT w.demo
  GROUP BY u.workspace_id, u.model, u.provider
  HAVING sum(u.calls) >= ${troubleCalls}
    AND sum(u.provider_errors + u.timeout_errors + u.broken_errors) * 100 >= sum(u.calls) * ${troublePercent}`;

const retiring = `
  SELECT o.model, o.provider, o.retires, used.workspace
  FROM (
    SELECT o.model_id AS model, o.provider_id AS provider, coalesce(o.retires, m.retires) AS retires
    FROM offer o JOIN model m ON m.id = o.model_id WHERE o.withdrawn_at IS NULL
  ) o CROSS JOIN LATERAL (
    SELECT DISTINCT workspace_id::text AS workspace FROM (
      SELECT workspace_id FROM usage_quarter
      WHERE model = o.model AND provider = o.provider AND quarter > now() - interval '30 days'
      UNION SELECT workspace_id FROM usage_day
      WHERE model = o.model AND provider = o.provider AND day > now() - interval '30 days'
    ) AS both_sums
  ) used JOIN workspace w ON w.id::text = used.workspace
  WHERE o.retires::date - (now() AT TIME ZONE 'UTC')::date BETWEEN 0 AND ${retiringDays - 1}
    AND w.deleted_at IS NULL AND NOT w.demo`;

const low = `
  SELECT id::text AS workspace, low_balance_nano::text AS threshold FROM workspace
  WHERE low_balance_since IS NOT NULL AND low_balance_nano IS NOT NULL AND deleted_at IS NULL AND NOT demo`;

const paused = `
  SELECT a.workspace_id::text AS workspace, a.paused_reason AS reason, a.paused_detail AS detail, a.paused_at AS at
  FROM auto_top_up a JOIN workspace w ON w.id = a.workspace_id
  WHERE a.enabled AND a.paused_at IS NOT NULL AND w.deleted_at IS NULL AND NOT w.demo`;

/** Counted by `lib/control/views`, at most one more than the threshold. */
const crowded = `
  SELECT v.workspace_id::text AS workspace, v.id::text AS view, v.name, v.page, v.query, v.alert_over AS over,
    v.alert_window AS window
  FROM saved_view v JOIN workspace w ON w.id = v.workspace_id
  WHERE v.alert_over IS NOT NULL AND v.alert_calls > v.alert_over AND NOT 'view' = ANY (w.muted_alerts)
    AND w.deleted_at IS NULL AND NOT w.demo`;

/** Calls of the last 24 hours; those with a score below a half are bad (contract: call-log/feedback-figures). */
const badlyRated = `
  SELECT w.id::text AS workspace, f.rated, f.bad, w.bad_percent AS percent
  FROM workspace w CROSS JOIN LATERAL (
    SELECT count(*)::int AS rated, (count(*) FILTER (WHERE score < ${goodScore}))::int AS bad FROM call_feedback
    WHERE workspace_id = w.id AND at > $1::timestamptz - interval '24 hours' AND at <= $1::timestamptz AND score IS NOT NULL
  ) f
  WHERE w.deleted_at IS NULL AND NOT w.demo AND f.rated >= w.bad_rated AND f.bad * 100 > f.rated * w.bad_percent`;

const limits: Readonly<Record<string, string>> = {
  workspace_rpm_exceeded: 'the limit of requests a minute',
  workspace_tpm_exceeded: 'the limit of tokens a minute',
  workspace_concurrency_exceeded: 'the limit of concurrent calls',
};

/**
 * All conditions that are true now, in all workspaces, in a few statements.
 * @throws Error of the database.
 */
export async function findConditions(pool: Pool, nowMs: number): Promise<Found[]> {
  const ask = async <Row>(text: string) => (await pool.query(text)).rows as Row[];
  type Capped = { key: string; workspace: string; name: string; limit: string; spent: string; cap: string };
  type Expiring = { key: string; workspace: string; name: string; expires_at: Date };
  type Trouble = { workspace: string; model: string; provider: string; calls: number; failed: number };
  type Retiring = { workspace: string; model: string; provider: string; retires: string };
  const found: Found[] = [];
  for (const { workspace: workspaceId, key, name, limit, spent, cap } of await ask<Capped>(caps)) {
    for (const level of BigInt(spent) >= BigInt(cap) ? ([80, 100] as const) : ([80] as const)) {
      const facts = { key, name, limit, level, spent: formatUsd(BigInt(spent)), cap: formatUsd(BigInt(cap)) };
      found.push({ workspaceId, kind: 'limit', subject: `${key} ${limit} ${level}`, facts });
    }
  }
  for (const { workspace: workspaceId, code } of await ask<{ workspace: string; code: string }>(refused)) {
    const facts = { name: 'the workspace', limit: limits[code] ?? code, level: 100 as const, code };
    found.push({ workspaceId, kind: 'limit', subject: `${code} 100`, facts });
  }
  for (const { workspace: workspaceId, key, name, expires_at: at } of await ask<Expiring>(expiring)) {
    for (const days of expiryDays.filter((some) => at.getTime() - nowMs < some * 86_400_000)) {
      const facts = { key, name, expiresAt: at.toISOString(), days };
      found.push({ workspaceId, kind: 'key_expiring', subject: `${key} ${at.getTime()} ${days}`, facts });
    }
  }
  for (const { workspace: workspaceId, ...facts } of await ask<Trouble>(trouble)) {
    found.push({ workspaceId, kind: 'offer_trouble', subject: `${facts.model} ${facts.provider}`, facts });
  }
  for (const { workspace: workspaceId, ...facts } of await ask<Retiring>(retiring)) {
    const subject = `${facts.model} ${facts.provider} ${facts.retires}`;
    found.push({ workspaceId, kind: 'model_retiring', subject, facts });
  }
  const query = async <Row>(text: string, values: readonly unknown[]) =>
    (await pool.query(text, [...values])).rows as Row[];
  for (const [workspaceId, month] of await readAllBudgets({ query }, nowMs)) {
    const { budgetNano, spentNano, fromMs, toMs, mode } = month;
    if (budgetNano === null || spentNano * 10n < budgetNano * 8n) continue;
    for (const level of spentNano >= budgetNano ? ([80, 100] as const) : ([80] as const)) {
      const [spent, budget] = [formatUsd(spentNano), formatUsd(budgetNano)];
      const facts = { level, mode, spent, budget, resetsAt: new Date(toMs).toISOString() };
      found.push({ workspaceId, kind: 'budget', subject: `${fromMs} ${level}`, facts });
    }
  }
  for (const { workspace: workspaceId, threshold } of await ask<{ workspace: string; threshold: string }>(
    low,
  )) {
    const facts = { threshold: formatUsd(BigInt(threshold)) };
    found.push({ workspaceId, kind: 'low_balance', subject: 'balance', facts });
  }
  type Paused = { workspace: string; reason: PauseReason; detail: string | null; at: Date };
  for (const { workspace: workspaceId, reason, detail, at } of await ask<Paused>(paused)) {
    const facts = { reason, ...(detail === null ? {} : { detail }) };
    found.push({ workspaceId, kind: 'auto_top_up_paused', subject: `${at.getTime()}`, facts });
  }
  type Crowded = { workspace: string; window: 'hour' | 'day' } & Omit<AlertData<'view'>, 'window'>;
  for (const { workspace: workspaceId, ...facts } of await ask<Crowded>(crowded)) {
    found.push({ workspaceId, kind: 'view', subject: `${facts.view} ${facts.over} ${facts.window}`, facts });
  }
  type Rated = { workspace: string } & AlertData<'bad_answers'>;
  for (const { workspace: workspaceId, ...facts } of await query<Rated>(badlyRated, [new Date(nowMs)])) {
    found.push({ workspaceId, kind: 'bad_answers', subject: 'feedback', facts });
  }
  return found;
}
