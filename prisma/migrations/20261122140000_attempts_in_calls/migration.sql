-- A call is one row: its attempts stand in it, as JSON arrays by position (provider, model, status, start in ms, duration
-- in ms, upstream request id, error, possible duplicate; what is missing at the end is null, null and false).
-- `settled_at` is the moment at which its charge was posted. The table is made anew, because the order of its columns
-- decides how much of each row is padding; JSON is kept as text, which is shorter than JSONB and checked faster.

CREATE TEMP TABLE "call_weeks" ON COMMIT DROP AS
  SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = '"call"'::regclass;

CREATE TEMP TABLE "call_before" ON COMMIT DROP AS
  SELECT c.*, coalesce(a.attempts, '[]') AS attempts,
    -- The line was posted in the transaction that logged the call.
    coalesce(l.at, c.at + c.latency_ms * interval '1 millisecond') AS settled_at
  FROM "call" c
  LEFT JOIN (
    SELECT call_id, json_agg(
      CASE
        WHEN possible_duplicate THEN json_build_array(provider, model, status, start_ms, duration_ms, upstream_request_id, error, true)
        WHEN error IS NOT NULL THEN json_build_array(provider, model, status, start_ms, duration_ms, upstream_request_id, error)
        ELSE json_build_array(provider, model, status, start_ms, duration_ms, upstream_request_id)
      END ORDER BY position) AS attempts
    FROM "attempt" GROUP BY call_id
  ) AS a ON a.call_id = c.id
  LEFT JOIN "ledger_line" l ON l.kind = 'call' AND l.id = c.id;

DROP TABLE "attempt";
DROP TABLE "call";

CREATE TABLE "call" (
  "id" UUID NOT NULL PRIMARY KEY,
  "at" TIMESTAMPTZ(3) NOT NULL,
  -- Not rounded, as the clock of the ledger's lines is not: both must fall into one quarter of an hour.
  "settled_at" TIMESTAMPTZ(6) NOT NULL DEFAULT now(),
  "workspace_id" UUID NOT NULL,
  "key_id" UUID NOT NULL,
  "cost_nano" BIGINT NOT NULL,
  "hold_nano" BIGINT NOT NULL,
  "over_hold_nano" BIGINT NOT NULL,
  "price_version_id" UUID,
  "status" INTEGER NOT NULL,
  "latency_ms" INTEGER NOT NULL,
  "first_byte_ms" INTEGER,
  "overhead_ms" REAL NOT NULL,
  "streamed" BOOLEAN NOT NULL,
  "family" TEXT NOT NULL,
  "operation" TEXT NOT NULL,
  "requested_model" TEXT,
  "answering_model" TEXT,
  "provider" TEXT,
  "error_code" TEXT,
  "end_reason" TEXT NOT NULL,
  "usage_source" TEXT NOT NULL,
  "client_request_id" TEXT,
  "user_agent" TEXT,
  "flags" TEXT[],
  "usage" JSON NOT NULL,
  "lines" JSON NOT NULL,
  "attempts" JSON NOT NULL
) PARTITION BY RANGE ("id");

DO $$
DECLARE
  week RECORD;
BEGIN
  FOR week IN SELECT name, bound FROM call_weeks LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF "call" %s', week.name, week.bound);
  END LOOP;
END
$$;

INSERT INTO "call"
SELECT id, at, settled_at, workspace_id, key_id, cost_nano, hold_nano, over_hold_nano, price_version_id, status,
  latency_ms, first_byte_ms, overhead_ms, streamed, family, operation, requested_model, answering_model, provider,
  error_code, end_reason, usage_source, client_request_id, user_agent, flags, usage::json, lines::json, attempts
FROM "call_before" ORDER BY id;

CREATE INDEX "call_workspace_id_id_idx" ON "call" ("workspace_id", "id");
CREATE INDEX "call_key_id_id_idx" ON "call" ("key_id", "id");
CREATE INDEX "call_workspace_id_failed_idx" ON "call" ("workspace_id", "id") WHERE "status" >= 400;
ANALYZE "call";
