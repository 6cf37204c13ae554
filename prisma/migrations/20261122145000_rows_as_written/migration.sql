-- What the journal writes and settlement sends: rows of this type in binary form, the columns in the order in which a
-- call learns them. Whoever changes it changes `lib/settlement/record/columns` too, and the layout of the journal.
CREATE TYPE "call_record" AS (
  "id" UUID,
  "at" TIMESTAMPTZ(3),
  "hold_nano" BIGINT,
  "streamed" BOOLEAN,
  "workspace_id" UUID,
  "key_id" UUID,
  "family" TEXT,
  "operation" TEXT,
  "requested_model" TEXT,
  "user_agent" TEXT,
  "client_request_id" TEXT,
  "status" INTEGER,
  "latency_ms" INTEGER,
  "overhead_ms" REAL,
  "cost_nano" BIGINT,
  "first_byte_ms" INTEGER,
  "answering_model" TEXT,
  "provider" TEXT,
  "price_version_id" UUID,
  "error_code" TEXT,
  "end_reason" TEXT,
  "usage_source" TEXT,
  "flags" TEXT[],
  "usage" JSON,
  "lines" JSON,
  "attempts" JSON
);

-- Cost lines are JSON arrays by position: class, quantity, nano-dollars per million as text. The share of a line is
-- their product.
CREATE FUNCTION lines_by_position(lines JSON) RETURNS JSON LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT coalesce(json_agg(json_build_array(l->>'class', (l->>'quantity')::numeric, l->>'unitPriceNano') ORDER BY place), '[]')
  FROM json_array_elements(lines) WITH ORDINALITY AS named (l, place)
$$;
-- Attempts begin with what tells them apart: upstream request id, start and duration in ms, then status, error, provider,
-- model and possible duplicate. What is missing at the end is as the call says, without an error.
CREATE FUNCTION attempts_by_position(attempts JSON) RETURNS JSON LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT coalesce(json_agg(
    CASE WHEN (a->>7)::boolean THEN json_build_array(a->5, a->3, a->4, a->2, a->6, a->0, a->1, true)
      ELSE json_build_array(a->5, a->3, a->4, a->2, a->6, a->0, a->1) END ORDER BY place), '[]')
  FROM json_array_elements(attempts) WITH ORDINALITY AS before (a, place)
$$;
ALTER TABLE "call"
  ALTER COLUMN "lines" TYPE JSON USING lines_by_position("lines"),
  ALTER COLUMN "attempts" TYPE JSON USING attempts_by_position("attempts");
DROP FUNCTION attempts_by_position;
ALTER TABLE "job"
  ALTER COLUMN "usage" TYPE JSON USING "usage"::json,
  ALTER COLUMN "lines" TYPE JSON USING lines_by_position("lines"::json);
ALTER TABLE "adjustment"
  ALTER COLUMN "usage" TYPE JSON USING "usage"::json,
  ALTER COLUMN "lines" TYPE JSON USING lines_by_position("lines"::json);
DROP FUNCTION lines_by_position;
