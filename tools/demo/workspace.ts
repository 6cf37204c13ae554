import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { Catalogue, Policy } from '#lib/core/facts/snapshot';
import { parseUsd } from '#lib/core/money';
import { parsePolicy } from '#lib/core/schemas/policy';
import { publish } from '#lib/platform/data/change';
import { aliases, cast } from '#tools/demo/cast';

const dayMs = 24 * 3_600_000;
const name = 'Demo data';

export interface MadeDemo {
  readonly workspaceId: string;
  readonly slug: string;
  /** In the order of the cast. */
  readonly keyIds: readonly string[];
  readonly members: number;
}

interface Making {
  readonly catalogue: Catalogue;
  readonly nowMs: number;
  readonly days: number;
  readonly timeZone: string;
}

/** A key without a secret: the hash of a real one has 32 bytes. */
const insertKey = `INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end, models, rpm,
    daily_cap_nano, quota_nano, status, created_at)
  VALUES ($1::uuid, $2::uuid, $3, convert_to('demo:' || $1, 'UTF8'), 'mg_demo', $4, '{}', $5::int, $6::bigint,
    $7::bigint, $8, $9::timestamptz)`;

/** Creates the demo workspace with members, keys and policies, but no calls. Runs in a transaction. */
export async function makeDemo(client: PoolClient, making: Making): Promise<MadeDemo> {
  const { nowMs, days, timeZone } = making;
  const bornMs = nowMs - (days + 1) * dayMs;
  const workspaceId = randomUUID();
  const slug = await freeSlug(client);
  await client.query(
    `INSERT INTO workspace (id, slug, name, time_zone, demo, rpm, tpm, concurrency, created_at)
     VALUES ($1::uuid, $2, $3, $4, true, 600, 4000000, 50, $5::timestamptz)`,
    [workspaceId, slug, name, timeZone, new Date(bornMs).toISOString()],
  );
  const members = await client.query(
    `INSERT INTO member (workspace_id, user_id, role) SELECT $1::uuid, id, 'owner' FROM "user" WHERE operator`,
    [workspaceId],
  );
  const keyIds: string[] = [];
  for (const app of cast) {
    const id = randomUUID();
    const { rpm, dailyCapUsd, quotaUsd } = app.limits ?? {};
    const made = nowMs - (Math.min(app.fromDay ?? days, days) + 0.5) * dayMs;
    await client.query(insertKey, [
      id,
      workspaceId,
      app.name,
      id.slice(-4),
      rpm ?? null,
      dailyCapUsd === undefined ? null : `${parseUsd(dailyCapUsd)}`,
      quotaUsd === undefined ? null : `${parseUsd(quotaUsd)}`,
      app.disabled ? 'inactive' : 'active',
      new Date(made).toISOString(),
    ]);
    keyIds.push(id);
  }
  for (const [at, { daysAgo, policy }] of policiesOf(making.catalogue).entries()) {
    const createdAt = new Date(nowMs - daysAgo * dayMs).toISOString();
    await client.query(
      `INSERT INTO policy (workspace_id, model_id, version, policy, translate, created_at, created_by)
       VALUES ($1::uuid, '', $2, $3::json, NULL, $4::timestamptz, (SELECT id FROM "user" WHERE operator ORDER BY created_at LIMIT 1))`,
      [workspaceId, at + 1, JSON.stringify(policy), createdAt],
    );
  }
  await publish({ query: (text, values) => client.query(text, values) }, [
    { kind: 'workspace', subject: workspaceId },
  ]);
  return { workspaceId, slug, keyIds, members: members.rowCount ?? 0 };
}

async function freeSlug(client: PoolClient): Promise<string> {
  const { rows } = await client.query<{ slug: string }>(
    `SELECT slug FROM (SELECT CASE n WHEN 1 THEN 'demo-data' ELSE 'demo-data-' || n END AS slug
       FROM generate_series(1, 1000) AS n ORDER BY n) AS wanted
     WHERE NOT EXISTS (SELECT FROM workspace w WHERE w.slug = wanted.slug)
       AND NOT EXISTS (SELECT FROM former_slug f WHERE f.slug = wanted.slug) LIMIT 1`,
  );
  const [found] = rows;
  if (!found) throw new RangeError('too many workspaces have the name of the demo; rename some of them');
  return found.slug;
}

/** Three versions of a default policy, with models and providers of the catalogue. */
function policiesOf({
  models,
  providers,
}: Catalogue): readonly { readonly daysAgo: number; readonly policy: Policy }[] {
  const known = Object.entries(aliases).flatMap(([alias, slugs]) => {
    const [slug] = slugs.filter((one) => models.has(one));
    return slug === undefined ? [] : [[alias, slug] as const];
  });
  const order = ['groq', 'cerebras', 'fireworks'].filter((id) => providers.has(id));
  const fallbackModels = ['anthropic/claude-haiku-4-5', 'mistral/mistral-small-2603'].filter((id) =>
    models.has(id),
  );
  const [, search] = known.map(([alias, slug]) => ({ [alias]: slug }));
  const named = Object.fromEntries(known);
  return [
    { daysAgo: 26, policy: { aliases: { ...search }, sort: 'price' } },
    { daysAgo: 19, policy: { aliases: named, order } },
    {
      daysAgo: 8.3,
      policy: { aliases: named, order, fallbackModels, maxAttempts: 3, timeouts: { firstByteMs: 30_000 } },
    },
  ].map(({ daysAgo, policy }) => ({ daysAgo, policy: parsePolicy(policy) }));
}
