import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quarterChecks } from '#lib/control/billing/quarter-checks';
import { wholeLog } from '#lib/control/billing/slices';
import { makePartitions } from '#lib/control/retention/partitions';
import { openEmbedded } from '#lib/platform/data/embedded';
import { migrate } from '#lib/platform/data/migrate';
import { createEmptyDatabase } from '#tests/support/database';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { copyMigrations, hourlyVersion } from '#tests/support/shared/migrations';

const calls = 2_000;
const [workspace, ...keys] = [1, 2, 3].map((n) => `0190c7b2-0000-7000-8000-00000000000${n}`);

/**
 * Calls of the last six hours: two keys, three models, some without a provider, all statuses and ends; every fiftieth
 * with figures beyond belief, of which the lines show what was charged.
 */
const seed = `
  INSERT INTO workspace (id, slug, name) VALUES ('${workspace}', 'old', 'Old');
  INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end)
  SELECT id::uuid, '${workspace}', id, decode(replace(id, '-', ''), 'hex'), 'mg_', 'x' FROM unnest('{${keys.join(',')}}'::text[]) AS id;
  INSERT INTO call (id, at, workspace_id, key_id, family, operation, requested_model, answering_model, provider, status,
    error_code, streamed, latency_ms, first_byte_ms, overhead_ms, attempt_count, end_reason, usage_source, flags, usage,
    lines, cost_nano, hold_nano, over_hold_nano)
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, at,
    '${workspace}', (ARRAY['${keys.join("','")}'])[1 + n % 2]::uuid, 'chat', 'chat.create', model,
    CASE WHEN n % 7 > 0 THEN model END, CASE WHEN n % 7 > 0 THEN 'one' END,
    (ARRAY[402, 200, 200, 200, 500, 404, 200])[1 + n % 7], CASE WHEN n % 7 = 0 THEN 'insufficient_balance' END, n % 2 = 0,
    n * 7, CASE WHEN n % 3 > 0 THEN n END, 0.5, n % 4,
    (ARRAY['refused', 'completed', 'timeout', 'interrupted', 'completed', 'completed', 'upstream_error'])[1 + n % 7], 'reported',
    CASE WHEN n % 50 = 1 THEN '{usage_anomaly}'::text[] ELSE '{}' END,
    CASE WHEN n % 50 = 1 THEN '{"input": 1000000000000, "output": 5}' ELSE json_build_object('input', n, 'cachedInput', n % 3,
      'output', 5, 'reasoning', n % 5)::jsonb END,
    json_build_array(json_build_object('class', 'input', 'quantity', n, 'unitPriceNano', '1000000', 'cost', n || '.000000'),
      json_build_object('class', 'output', 'quantity', 5, 'unitPriceNano', '0', 'cost', '0.000000')),
    CASE WHEN n % 7 > 0 THEN n ELSE 0 END, 1000000, 0
  FROM generate_series(1, ${calls}) AS n, LATERAL (SELECT date_trunc('hour', now(), 'UTC') - n * interval '10.5 seconds' AS at,
    (ARRAY['a/b', 'c/d', 'e/f'])[1 + n % 3] AS model) AS made;
  INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, key_id, at)
  SELECT id, workspace_id, 'call', id::text, -cost_nano, key_id, at FROM call WHERE cost_nano > 0;
  UPDATE workspace SET balance_nano = (SELECT sum(amount_nano) FROM ledger_line);
  UPDATE api_key k SET spent_nano = (SELECT coalesce(sum(cost_nano), 0) FROM call WHERE key_id = k.id);
  INSERT INTO usage_hour (workspace_id, hour, key_id, model, provider, calls, errors, input_tokens, cached_tokens,
    output_tokens, cost_nano)
  SELECT workspace_id, date_trunc('hour', at, 'UTC'), key_id, requested_model, coalesce(provider, ''), count(*),
    count(*) FILTER (WHERE status >= 400 OR end_reason IN ('upstream_error', 'timeout', 'interrupted')),
    sum(CASE WHEN flags <> '{}' THEN (lines->0->>'quantity')::bigint ELSE (usage->>'input')::bigint END),
    sum(coalesce((usage->>'cachedInput')::bigint, 0)), sum((usage->>'output')::bigint), sum(cost_nano)
  FROM call GROUP BY 1, 2, 3, 4, 5;
  -- Hours of which the calls are gone.
  INSERT INTO usage_hour SELECT workspace_id, hour - interval '100 days', key_id, model, provider, calls, errors, input_tokens,
    cached_tokens, output_tokens, cost_nano FROM usage_hour;
  -- Hours that count a figure as it was claimed, as they once did.
  UPDATE usage_hour h SET input_tokens = input_tokens + 999 WHERE EXISTS (SELECT FROM call c WHERE flags <> '{}'
    AND date_trunc('hour', c.at, 'UTC') = h.hour AND c.key_id = h.key_id AND c.requested_model = h.model
    AND coalesce(c.provider, '') = h.provider);`;

const hourly = (table: string, at: string, errors: string) => `
  SELECT date_trunc('hour', ${at}, 'UTC')::text AS hour, key_id, model, provider, sum(calls)::int AS calls,
    sum(${errors})::int AS errors, sum(input_tokens)::text AS input, sum(cached_tokens)::text AS cached,
    sum(output_tokens)::text AS output, sum(cost_nano)::text AS cost
  FROM ${table} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`;
const allErrors =
  'client_errors + limit_errors + provider_errors + timeout_errors + broken_errors + gateway_errors + other_errors';

async function embedded() {
  const opened = await openEmbedded(await embeddedDirectory('hourly'), 'server');
  return { url: opened.url, drop: () => opened.close() };
}

describe.each([
  ['a PostgreSQL server', createEmptyDatabase],
  ['the embedded database', embedded],
])('sums by the hour that become sums by the quarter on %s', (_, open) => {
  let pool: Pool;
  let close: () => Promise<unknown>;
  let before: unknown[];

  beforeAll(async () => {
    const database = await open();
    await migrate(database.url, copyMigrations(hourlyVersion));
    pool = new Pool({ connectionString: database.url });
    close = async () => {
      await pool.end();
      await database.drop();
    };
    await pool.query(seed);
    before = (await pool.query(hourly('usage_hour', 'hour', 'errors'))).rows;
    await migrate(database.url);
    await makePartitions(pool, Date.now());
  });
  afterAll(() => close());

  it('add up to the same in every hour, key, model and provider', async () => {
    const after = await pool.query(hourly('usage_quarter', 'quarter', allErrors));
    expect(after.rows.length).toBeGreaterThan(50);
    expect(after.rows).toEqual(before);
  });

  it('are those of the kept calls, quarter by quarter, with their histograms, causes and attempts', async () => {
    const [check] = quarterChecks;
    expect((await pool.query(check?.sql ?? '', [...wholeLog])).rows).toEqual([]);
    const { rows } = await pool.query(
      `SELECT count(DISTINCT quarter)::int AS quarters, sum(attempts)::int AS attempts, sum(limit_errors)::int AS limits,
         sum(other_errors)::int AS other, bool_or(latency > 0) AS measured
       FROM usage_quarter WHERE quarter > now() - interval '1 day'`,
    );
    const kept = await pool.query(
      `SELECT sum(json_array_length(attempts))::int AS attempts, count(*) FILTER (WHERE status = 402)::int AS limits FROM call`,
    );
    expect(rows[0]).toMatchObject({ ...kept.rows[0], other: 0, measured: true });
    expect(rows[0].quarters).toBeGreaterThan(20);
  });

  it('are in the first quarter of their hour if the calls are gone', async () => {
    const { rows } = await pool.query(
      `SELECT DISTINCT to_char(quarter AT TIME ZONE 'UTC', 'MI') AS minute, latency::text AS latency, first_byte::text AS first
       FROM usage_quarter WHERE quarter < now() - interval '90 days'`,
    );
    expect(rows).toEqual([{ minute: '00', latency: '0', first: '0' }]);
  });
});
