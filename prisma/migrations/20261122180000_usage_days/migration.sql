-- Finished days of usage are summed by day as soon as they are over, so that a month is read from days. `usage_quarter` holds
-- what no day counts yet; quarters that a day counts stand in `usage_quarter_counted`, for as long as there are quarters.
CREATE TABLE "usage_quarter_counted" (
  "workspace_id" UUID NOT NULL,
  "quarter" TIMESTAMPTZ(3) NOT NULL,
  "key_id" UUID NOT NULL,
  "model" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "calls" INTEGER NOT NULL DEFAULT 0,
  "refused" INTEGER NOT NULL DEFAULT 0,
  "client_errors" INTEGER NOT NULL DEFAULT 0,
  "limit_errors" INTEGER NOT NULL DEFAULT 0,
  "provider_errors" INTEGER NOT NULL DEFAULT 0,
  "timeout_errors" INTEGER NOT NULL DEFAULT 0,
  "broken_errors" INTEGER NOT NULL DEFAULT 0,
  "gateway_errors" INTEGER NOT NULL DEFAULT 0,
  "other_errors" INTEGER NOT NULL DEFAULT 0,
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "fallbacks" INTEGER NOT NULL DEFAULT 0,
  "input_tokens" BIGINT NOT NULL DEFAULT 0,
  "cached_tokens" BIGINT NOT NULL DEFAULT 0,
  "cache_write_5m_tokens" BIGINT NOT NULL DEFAULT 0,
  "cache_write_1h_tokens" BIGINT NOT NULL DEFAULT 0,
  "output_tokens" BIGINT NOT NULL DEFAULT 0,
  "reasoning_tokens" BIGINT NOT NULL DEFAULT 0,
  "audio_input_tokens" BIGINT NOT NULL DEFAULT 0,
  "audio_output_tokens" BIGINT NOT NULL DEFAULT 0,
  "image_input_tokens" BIGINT NOT NULL DEFAULT 0,
  "image_output_tokens" BIGINT NOT NULL DEFAULT 0,
  "images" BIGINT NOT NULL DEFAULT 0,
  "video_seconds" BIGINT NOT NULL DEFAULT 0,
  "web_searches" BIGINT NOT NULL DEFAULT 0,
  "cost_nano" BIGINT NOT NULL DEFAULT 0,
  "latency" NUMERIC NOT NULL DEFAULT 0,
  "first_byte" NUMERIC NOT NULL DEFAULT 0,
  PRIMARY KEY ("workspace_id", "quarter", "key_id", "model", "provider")
);

-- The days of a workspace, whose sums are in `usage_day`. 'due': to be summed (its quarters are counted nowhere meanwhile);
-- 'made': the sum of its counted quarters; 'folded': its quarters are gone.
CREATE TABLE "usage_span" (
  "workspace_id" UUID NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "until" TIMESTAMPTZ(3) NOT NULL,
  "zone" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  PRIMARY KEY ("workspace_id", "day"),
  CONSTRAINT "usage_span_state" CHECK ("state" IN ('due', 'made', 'folded'))
);

INSERT INTO usage_span (workspace_id, day, until, zone, state)
SELECT d.workspace_id, d.day, max(d.until), coalesce(max(w.time_zone), 'UTC'), 'folded'
FROM usage_day d LEFT JOIN workspace w ON w.id = d.workspace_id GROUP BY 1, 2;
