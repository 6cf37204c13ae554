import type { Pool } from 'pg';
import { idFloor } from '#lib/platform/ids';

const weekMs = 7 * 86_400_000;

const timed = (moment: string) =>
  `(lpad(to_hex((extract(epoch FROM ${moment}) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
    || 'a' || substr(md5(n::text), 4, 15))::uuid`;
const lineOf = (
  nano: string,
) => `CASE WHEN ${nano} = 0 THEN '[]'::jsonb ELSE jsonb_build_array(jsonb_build_object(
  'class', 'input', 'quantity', ${nano}, 'unitPriceNano', '1000000', 'cost', ${nano} || '.000000')) END`;

/**
 * Fills a database of the version whose ledger had a line for each call with calls of 50 days, as its settlement wrote
 * them: of the first days retention has dropped the calls; some calls made jobs, of which some were charged after they
 * were given up; some were adjusted.
 */
export async function fillBefore(pool: Pool, calls: number, workspaces = 5): Promise<void> {
  const nowMs = Date.now();
  const firstMs = Math.floor((nowMs - 52 * 86_400_000) / weekMs) * weekMs;
  const weeks = Array.from({ length: 9 }, (_, week) => firstMs + week * weekMs);
  for (const parent of ['call', 'attempt']) {
    for (const [at, startMs] of weeks.entries())
      await pool.query(
        `CREATE TABLE ${parent}_w${at} PARTITION OF ${parent}
         FOR VALUES FROM ('${idFloor(startMs)}') TO ('${idFloor(startMs + weekMs)}')`,
      );
  }
  const run = (text: string) => pool.query(text);
  await run(`INSERT INTO workspace (id, slug, name) SELECT gen_random_uuid(), 'w' || n, 'w' || n
    FROM generate_series(0, ${workspaces - 1}) AS n`);
  await run(`INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end, models)
    SELECT gen_random_uuid(), id, 'k', decode(md5(id::text), 'hex'), 'mg_', 'x', '{}' FROM workspace`);
  await run(`CREATE TABLE made AS
    SELECT n, ${timed('at')} AS id, date_trunc('milliseconds', at) AS at, k.workspace_id, k.id AS key_id,
      (CASE WHEN n % 5 = 0 OR n % 50 = 1 THEN 0 ELSE n % 997 + 1 END)::bigint AS cost
    FROM (SELECT n, now() - interval '50 days' + n * (interval '50 days' / ${calls}) AS at
      FROM generate_series(0, ${calls - 1}) AS n) AS series
    JOIN (SELECT *, row_number() OVER (ORDER BY id) - 1 AS nth FROM api_key) AS k ON k.nth = n % ${workspaces}`);
  await run(`INSERT INTO call (id, at, workspace_id, key_id, family, operation, requested_model, answering_model,
      provider, status, streamed, latency_ms, overhead_ms, attempt_count, end_reason, usage_source, flags, usage, lines,
      cost_nano, hold_nano, over_hold_nano)
    SELECT id, at, workspace_id, key_id, 'chat', 'chat.create', 'a/b', 'a/b', 'p', 200, false, 900, 0.5, 1, 'completed',
      CASE WHEN n % 50 = 2 THEN 'estimated' ELSE 'reported' END, '{}',
      jsonb_build_object('input', cost), ${lineOf('cost')}, cost, 100000, 0 FROM made`);
  await run(`INSERT INTO attempt (call_id, position, id, provider, model, status, start_ms, duration_ms)
    SELECT id, 0, gen_random_uuid(), 'p', 'm', 200, 1, 800 FROM made`);
  await run(`INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, key_id, at)
    SELECT id, workspace_id, 'call', id::text, -cost, key_id, at + interval '1.2 seconds' FROM made WHERE cost > 0`);
  await run(`INSERT INTO job (call_id, workspace_id, key_id, family, kind, upstream_id, provider_id, model_id,
      upstream_model, offer_id, price_version_id, hold_nano, facts, state, created_at, lost_at, settled_at, cost_nano,
      usage_source, usage, lines, flags)
    SELECT id, workspace_id, key_id, 'videos', 'video', 'v' || n, 'p', 'a/b', 'b', id, id, 100000, '{}', 'completed', at,
      CASE WHEN n % 200 = 1 THEN at + interval '1 day' END, at + interval '14 minutes', n % 7 + 1, 'reported',
      jsonb_build_object('input', n % 7 + 1), ${lineOf('n % 7 + 1')}, '{}'
    FROM made WHERE n % 50 = 1`);
  await run(`INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, key_id, at)
    SELECT gen_random_uuid(), workspace_id, 'job', call_id::text, -cost_nano, key_id, settled_at + interval '2 minutes'
    FROM job`);
  await run(`INSERT INTO adjustment (call_id, workspace_id, report, seen_at, settled_at, usage, lines, flags, cost_nano,
      amount_nano, more_input)
    SELECT id, workspace_id, '{}', at, at + interval '1 hour', jsonb_build_object('input', cost + 3), ${lineOf('(cost + 3)')},
      '{}', cost + 3, 3, 3 FROM made WHERE n % 50 = 2`);
  await run(`INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, key_id, at)
    SELECT gen_random_uuid(), a.workspace_id, 'adjustment', a.call_id::text, -3, m.key_id, a.settled_at
    FROM adjustment a JOIN made m ON m.id = a.call_id`);
  await run(`INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, reason, at)
    SELECT gen_random_uuid(), id, kind, gen_random_uuid()::text, 100000000, 'paid', now() - interval '51 days'
    FROM workspace, unnest(ARRAY['credit', 'topup', 'refund']) AS kind`);
  await run(`UPDATE workspace w SET balance_nano = l.nano
    FROM (SELECT workspace_id, sum(amount_nano) AS nano FROM ledger_line GROUP BY 1) AS l WHERE l.workspace_id = w.id`);
  await run(`UPDATE api_key k SET spent_nano = l.nano
    FROM (SELECT key_id, -sum(amount_nano) AS nano FROM ledger_line GROUP BY 1) AS l WHERE l.key_id = k.id`);
  await run(`CREATE TABLE spent AS
    SELECT id, workspace_id, key_id, at, cost, 1 AS calls, cost AS input FROM made
    UNION ALL SELECT call_id, workspace_id, key_id, created_at, cost_nano, 0, (usage->>'input')::bigint FROM job
    UNION ALL SELECT a.call_id, a.workspace_id, m.key_id, m.at, 3, 0, 3
    FROM adjustment a JOIN made m ON m.id = a.call_id`);
  await run(`INSERT INTO spend_minute SELECT key_id, date_trunc('minute', at), sum(cost) FROM spent
    WHERE cost > 0 AND at > now() - interval '32 days' GROUP BY 1, 2`);
  await run(`INSERT INTO usage_hour
    SELECT workspace_id, date_trunc('hour', at, 'UTC'), key_id, 'a/b', 'p', sum(calls), 0, sum(input), 0, 0, sum(cost)
    FROM spent GROUP BY 1, 2, 3`);
  await run('DROP TABLE spent, made');
  // What retention drops, and what goes with it.
  for (const parent of ['call', 'attempt']) await run(`DROP TABLE ${parent}_w0, ${parent}_w1`);
  for (const table of ['job', 'adjustment'])
    await pool.query(`DELETE FROM ${table} WHERE call_id < $1`, [idFloor(firstMs + 2 * weekMs)]);
}
