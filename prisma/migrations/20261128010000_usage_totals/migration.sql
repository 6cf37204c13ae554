-- Sums of usage that leave out what most questions do not ask for: of all keys together by quarter and by day, and of each
-- key by day. They are written by the statement that counts quarters in their day; here they are made of what is counted.

-- Days have another state than before: a process of the version before, which would count quarters in them without these
-- sums, reads their quarters instead and fails to count any. It waits here first, so that neither waits for the other later.
LOCK TABLE usage_span IN ACCESS EXCLUSIVE MODE;
ALTER TABLE usage_span DROP CONSTRAINT "usage_span_state";
UPDATE usage_span SET state = 'summed' WHERE state = 'made';
ALTER TABLE usage_span ADD CONSTRAINT "usage_span_state" CHECK ("state" IN ('due', 'summed', 'folded'));

CREATE TABLE "usage_quarter_total" (
  "workspace_id" UUID NOT NULL,
  "quarter" TIMESTAMPTZ(3) NOT NULL,
  "model" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "calls" BIGINT NOT NULL DEFAULT 0,
  "refused" BIGINT NOT NULL DEFAULT 0,
  "client_errors" BIGINT NOT NULL DEFAULT 0,
  "limit_errors" BIGINT NOT NULL DEFAULT 0,
  "provider_errors" BIGINT NOT NULL DEFAULT 0,
  "timeout_errors" BIGINT NOT NULL DEFAULT 0,
  "broken_errors" BIGINT NOT NULL DEFAULT 0,
  "gateway_errors" BIGINT NOT NULL DEFAULT 0,
  "other_errors" BIGINT NOT NULL DEFAULT 0,
  "attempts" BIGINT NOT NULL DEFAULT 0,
  "fallbacks" BIGINT NOT NULL DEFAULT 0,
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
  "characters" BIGINT NOT NULL DEFAULT 0,
  "audio_ms" BIGINT NOT NULL DEFAULT 0,
  "cost_nano" BIGINT NOT NULL DEFAULT 0,
  "own_list_nano" BIGINT NOT NULL DEFAULT 0,
  "latency" NUMERIC NOT NULL DEFAULT 0,
  "first_byte" NUMERIC NOT NULL DEFAULT 0,
  PRIMARY KEY ("workspace_id", "quarter", "model", "provider")
);

CREATE TABLE "usage_day_total" (
  "workspace_id" UUID NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "model" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "calls" BIGINT NOT NULL DEFAULT 0,
  "refused" BIGINT NOT NULL DEFAULT 0,
  "client_errors" BIGINT NOT NULL DEFAULT 0,
  "limit_errors" BIGINT NOT NULL DEFAULT 0,
  "provider_errors" BIGINT NOT NULL DEFAULT 0,
  "timeout_errors" BIGINT NOT NULL DEFAULT 0,
  "broken_errors" BIGINT NOT NULL DEFAULT 0,
  "gateway_errors" BIGINT NOT NULL DEFAULT 0,
  "other_errors" BIGINT NOT NULL DEFAULT 0,
  "attempts" BIGINT NOT NULL DEFAULT 0,
  "fallbacks" BIGINT NOT NULL DEFAULT 0,
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
  "characters" BIGINT NOT NULL DEFAULT 0,
  "audio_ms" BIGINT NOT NULL DEFAULT 0,
  "cost_nano" BIGINT NOT NULL DEFAULT 0,
  "own_list_nano" BIGINT NOT NULL DEFAULT 0,
  "latency" NUMERIC NOT NULL DEFAULT 0,
  "first_byte" NUMERIC NOT NULL DEFAULT 0,
  PRIMARY KEY ("workspace_id", "day", "model", "provider")
);

CREATE TABLE "usage_day_key" (
  "workspace_id" UUID NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "key_id" UUID NOT NULL,
  "calls" BIGINT NOT NULL DEFAULT 0,
  "refused" BIGINT NOT NULL DEFAULT 0,
  "client_errors" BIGINT NOT NULL DEFAULT 0,
  "limit_errors" BIGINT NOT NULL DEFAULT 0,
  "provider_errors" BIGINT NOT NULL DEFAULT 0,
  "timeout_errors" BIGINT NOT NULL DEFAULT 0,
  "broken_errors" BIGINT NOT NULL DEFAULT 0,
  "gateway_errors" BIGINT NOT NULL DEFAULT 0,
  "other_errors" BIGINT NOT NULL DEFAULT 0,
  "attempts" BIGINT NOT NULL DEFAULT 0,
  "fallbacks" BIGINT NOT NULL DEFAULT 0,
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
  "characters" BIGINT NOT NULL DEFAULT 0,
  "audio_ms" BIGINT NOT NULL DEFAULT 0,
  "cost_nano" BIGINT NOT NULL DEFAULT 0,
  "own_list_nano" BIGINT NOT NULL DEFAULT 0,
  "latency" NUMERIC NOT NULL DEFAULT 0,
  "first_byte" NUMERIC NOT NULL DEFAULT 0,
  PRIMARY KEY ("workspace_id", "day", "key_id")
);

INSERT INTO usage_quarter_total (workspace_id, quarter, model, provider,
  calls, refused, client_errors, limit_errors, provider_errors, timeout_errors, broken_errors, gateway_errors,
  other_errors, attempts, fallbacks, input_tokens, cached_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
  output_tokens, reasoning_tokens, audio_input_tokens, audio_output_tokens, image_input_tokens, image_output_tokens,
  images, video_seconds, web_searches, characters, audio_ms, cost_nano, own_list_nano, latency, first_byte)
SELECT workspace_id, quarter, model, provider,
  sum(calls), sum(refused), sum(client_errors), sum(limit_errors), sum(provider_errors), sum(timeout_errors),
  sum(broken_errors), sum(gateway_errors), sum(other_errors), sum(attempts), sum(fallbacks), sum(input_tokens),
  sum(cached_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
  sum(reasoning_tokens), sum(audio_input_tokens), sum(audio_output_tokens), sum(image_input_tokens),
  sum(image_output_tokens), sum(images), sum(video_seconds), sum(web_searches), sum(characters), sum(audio_ms),
  sum(cost_nano), sum(own_list_nano), sum(latency), sum(first_byte)
FROM usage_quarter_counted GROUP BY workspace_id, quarter, model, provider;

INSERT INTO usage_day_total (workspace_id, day, model, provider,
  calls, refused, client_errors, limit_errors, provider_errors, timeout_errors, broken_errors, gateway_errors,
  other_errors, attempts, fallbacks, input_tokens, cached_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
  output_tokens, reasoning_tokens, audio_input_tokens, audio_output_tokens, image_input_tokens, image_output_tokens,
  images, video_seconds, web_searches, characters, audio_ms, cost_nano, own_list_nano, latency, first_byte)
SELECT workspace_id, day, model, provider,
  sum(calls), sum(refused), sum(client_errors), sum(limit_errors), sum(provider_errors), sum(timeout_errors),
  sum(broken_errors), sum(gateway_errors), sum(other_errors), sum(attempts), sum(fallbacks), sum(input_tokens),
  sum(cached_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
  sum(reasoning_tokens), sum(audio_input_tokens), sum(audio_output_tokens), sum(image_input_tokens),
  sum(image_output_tokens), sum(images), sum(video_seconds), sum(web_searches), sum(characters), sum(audio_ms),
  sum(cost_nano), sum(own_list_nano), sum(latency), sum(first_byte)
FROM usage_day GROUP BY workspace_id, day, model, provider;

-- What the gateway answers itself, which no question of a key counts, has a model of its own.
INSERT INTO usage_day_key (workspace_id, day, key_id,
  calls, refused, client_errors, limit_errors, provider_errors, timeout_errors, broken_errors, gateway_errors,
  other_errors, attempts, fallbacks, input_tokens, cached_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
  output_tokens, reasoning_tokens, audio_input_tokens, audio_output_tokens, image_input_tokens, image_output_tokens,
  images, video_seconds, web_searches, characters, audio_ms, cost_nano, own_list_nano, latency, first_byte)
SELECT workspace_id, day, key_id,
  sum(calls), sum(refused), sum(client_errors), sum(limit_errors), sum(provider_errors), sum(timeout_errors),
  sum(broken_errors), sum(gateway_errors), sum(other_errors), sum(attempts), sum(fallbacks), sum(input_tokens),
  sum(cached_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
  sum(reasoning_tokens), sum(audio_input_tokens), sum(audio_output_tokens), sum(image_input_tokens),
  sum(image_output_tokens), sum(images), sum(video_seconds), sum(web_searches), sum(characters), sum(audio_ms),
  sum(cost_nano), sum(own_list_nano), sum(latency), sum(first_byte)
FROM usage_day
WHERE model <> '(gateway)' GROUP BY workspace_id, day, key_id;

CREATE INDEX "usage_quarter_counted_key_id_quarter_idx" ON "usage_quarter_counted" ("key_id", "quarter");
