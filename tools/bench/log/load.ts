import type { Pool } from 'pg';
import { makeWeek } from '#lib/control/retention/change-weeks';
import { dayMs, weekAt, weekMs, weekStart } from '#lib/control/retention/weeks';

/**
 * Draws and sorts the calls of a stretch of time in the database. $1: its start, ms since the epoch; $2: its length, ms;
 * $3: calls. Of a hundred calls 95 succeed, 3 are refused by limits or funds, 2 fail at a provider; 3 have a fallback.
 */
const insertStretch = `
  WITH drawn AS MATERIALIZED (
    SELECT ms, 'x' || md5(ms::text || random()::text) AS noise, floor(random() * slots.n)::int AS slot, random() AS end_at,
      random() AS which, random() AS size_in, random() AS size_out, random() AS speed, random() AS other
    FROM (SELECT $1::bigint + floor($2::float8 * (u - 0.08 * sin(2 * pi() * u)))::bigint AS ms
      FROM (SELECT random() AS u FROM generate_series(1, $3::int)) AS uniform) AS moments,
      (SELECT count(*) AS n FROM bench_slot) AS slots
    ORDER BY ms
  ), called AS MATERIALIZED (
    SELECT d.*, s.workspace_id, s.key_id, m.model, m.provider, m.price, m.input AS input_nano, m.output AS output_nano,
      exp(4.5 + 4 * size_in)::int AS input, exp(3 + 4 * size_out)::int AS output,
      CASE WHEN other < 0.3 THEN exp(5 + 3 * size_in)::int ELSE 0 END AS cached,
      150 + floor(4000 * speed * speed * (0.3 + size_out))::int AS took,
      end_at < 0.95 AS good, end_at >= 0.95 AND end_at < 0.98 AS refused, other > 0.97 AS fell
    FROM drawn d JOIN bench_slot s ON s.slot = d.slot
    JOIN bench_model m ON m.i = CASE WHEN which < 0.85 THEN s.main WHEN which < 0.97 THEN s.second
      ELSE floor(size_out * 12)::int END
    ORDER BY ms
  ), priced AS (
    SELECT *, CASE WHEN good THEN input::bigint * input_nano + output::bigint * output_nano + cached::bigint * input_nano / 10
      ELSE 0 END AS cost FROM called
  )
  INSERT INTO call (id, at, settled_at, workspace_id, key_id, cost_nano, hold_nano, over_hold_nano, price_version_id, status,
    latency_ms, first_byte_ms, overhead_ms, streamed, family, operation, requested_model, answering_model, provider,
    error_code, end_reason, usage_source, client_request_id, user_agent, flags, usage, lines, attempts)
  SELECT (lpad(to_hex(ms), 12, '0') || '7' || substr(noise, 2, 3) || '8' || substr(noise, 5, 15))::uuid,
    to_timestamp(ms / 1000.0), to_timestamp((ms + took + 300) / 1000.0), workspace_id, key_id,
    cost, cost * 3 + 1000000, 0, CASE WHEN refused THEN NULL ELSE price END,
    CASE WHEN good THEN 200 WHEN end_at < 0.972 THEN 429 WHEN end_at < 0.98 THEN 402 WHEN end_at < 0.99 THEN 400 ELSE 503 END,
    CASE WHEN refused THEN 0 ELSE took END, CASE WHEN refused THEN NULL ELSE took / 4 END, (0.2 + speed)::real,
    other < 0.6, 'chat', 'chat.create', model, CASE WHEN refused THEN NULL ELSE model END,
    CASE WHEN refused THEN NULL ELSE provider END,
    CASE WHEN refused THEN CASE WHEN end_at < 0.972 THEN 'apikey_rpm_exceeded' ELSE 'insufficient_balance' END END,
    CASE WHEN refused THEN 'refused' ELSE 'completed' END,
    CASE WHEN good THEN 'reported' ELSE 'none' END,
    CASE WHEN other < 0.1 THEN 'job-' || substr(noise, 6, 12) END,
    CASE floor(which * 3) WHEN 0 THEN 'OpenAI/Python 2.8.1' WHEN 1 THEN 'OpenAI/JS 6.9.0' ELSE 'node' END, '{}',
    CASE WHEN good THEN (CASE WHEN cached > 0
      THEN format('{"input":%s,"output":%s,"cachedInput":%s}', input, output, cached)
      ELSE format('{"input":%s,"output":%s}', input, output) END)::json ELSE '{"input":0,"output":0}' END,
    CASE WHEN good THEN format('[["input",%s,"%s000000"],["output",%s,"%s000000"]%s]', input, input_nano, output,
      output_nano, CASE WHEN cached > 0 THEN format(',["cachedInput",%s,"%s00000"]', cached, input_nano) END)::json
      ELSE '[]' END,
    CASE WHEN refused THEN '[]' ELSE format('[%s["req_%s",%s,%s]]',
      CASE WHEN fell THEN format('["req_%s",2,40,503,null],', substr(noise, 10, 20)) END,
      substr(noise, 2, 24), CASE WHEN fell THEN 44 ELSE 2 END, took - 3)::json END
  FROM priced ORDER BY ms`;

export interface Amount {
  readonly calls: number;
  readonly days: number;
  /** Where the log ends, ms since the epoch. */
  readonly untilMs: number;
}

/** Calls of one statement: small enough for the embedded database. */
const most = 25_000;

/** Fills the log as a gateway would have: in the order of the calls, with all indexes. */
export async function loadCalls(
  pool: Pool,
  { calls, days, untilMs }: Amount,
  tell: (loaded: number) => void,
): Promise<void> {
  const fromMs = untilMs - days * dayMs;
  for (let startMs = weekStart(fromMs); startMs <= untilMs + weekMs; startMs += weekMs) {
    await makeWeek(pool, weekAt(startMs));
  }
  // One day at a time: calls are spread over the day as people work.
  for (let day = 0; day < days; day++) {
    let left = Math.floor((calls * (day + 1)) / days) - Math.floor((calls * day) / days);
    const parts = Math.ceil(left / most);
    const partMs = dayMs / parts;
    for (let part = 0; part < parts; part++) {
      const count = Math.round(left / (parts - part));
      left -= count;
      await pool.query(insertStretch, [Math.round(fromMs + day * dayMs + part * partMs), partMs, count]);
    }
    tell(Math.floor((calls * (day + 1)) / days));
  }
}
