-- Usage by quarter of an hour of admission in place of the hour: days begin at a quarter in every time zone. `latency` and
-- `first_byte` are histograms that merge by addition: groups of 12 decimal digits count the calls of one bucket each
-- (lib/metering/histogram.ts). Quarters older than 13 months fold into days of the workspace's time zone.
CREATE TABLE "usage_quarter" (
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
) WITH (fillfactor = 85);

CREATE TABLE "usage_day" (
  "workspace_id" UUID NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "until" TIMESTAMPTZ(3) NOT NULL,
  "key_id" UUID NOT NULL,
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
  "cost_nano" BIGINT NOT NULL DEFAULT 0,
  "latency" NUMERIC NOT NULL DEFAULT 0,
  "first_byte" NUMERIC NOT NULL DEFAULT 0,
  PRIMARY KEY ("workspace_id", "day", "key_id", "model", "provider")
);

-- What an adjustment adds to the sums, by class, as a usage: classes that it does not change are left out.
ALTER TABLE "adjustment" ADD COLUMN "more" JSONB NOT NULL DEFAULT '{}';
UPDATE "adjustment" SET "more" = jsonb_strip_nulls(jsonb_build_object(
  'input', nullif(more_input, 0), 'cachedInput', nullif(more_cached, 0), 'output', nullif(more_output, 0)));
ALTER TABLE "adjustment" DROP COLUMN "more_input", DROP COLUMN "more_cached", DROP COLUMN "more_output";

-- Quarters of what is kept: calls, settled jobs, settled adjustments.
INSERT INTO usage_quarter (workspace_id, quarter, key_id, model, provider,
  calls, refused, client_errors, limit_errors, provider_errors, timeout_errors, broken_errors, gateway_errors, other_errors, attempts, fallbacks, input_tokens, cached_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, audio_input_tokens, audio_output_tokens, image_input_tokens, image_output_tokens, images, video_seconds, web_searches, cost_nano, latency, first_byte)
WITH parts AS (
  SELECT workspace_id, at, key_id,
    coalesce(answering_model, CASE WHEN error_code = 'model_not_allowed' OR octet_length(requested_model) > 200
      THEN '' ELSE requested_model END, '') AS model,
    coalesce(provider, '') AS provider, 1 AS calls, status, end_reason, json_array_length(attempts) AS tried,
    usage, '{}'::json AS more, lines, flags, cost_nano,
    CASE WHEN end_reason NOT IN ('refused', 'interrupted') THEN latency_ms END AS latency_ms,
    CASE WHEN end_reason NOT IN ('refused', 'interrupted') THEN first_byte_ms END AS first_byte_ms
  FROM call
  UNION ALL
  SELECT workspace_id, created_at, key_id, model_id, provider_id, 0, 0, '', 0, usage, '{}', lines, flags,
    cost_nano, NULL, NULL
  FROM job WHERE settled_at IS NOT NULL
  UNION ALL
  SELECT c.workspace_id, coalesce(j.created_at, c.at), c.key_id, coalesce(j.model_id, c.answering_model, ''),
    coalesce(j.provider_id, c.provider, ''), 0, 0, '', 0, '{}', a.more::json, '[]', '{}', a.amount_nano, NULL, NULL
  FROM adjustment a JOIN call c ON c.id = a.call_id LEFT JOIN job j ON j.call_id = a.call_id
  WHERE a.settled_at IS NOT NULL
), figures AS (
  SELECT p.*, CASE
      WHEN end_reason = 'interrupted' THEN 'broken'
      WHEN end_reason = 'timeout' THEN 'timeout'
      WHEN end_reason = 'upstream_error' THEN CASE WHEN status >= 400 THEN 'provider' ELSE 'broken' END
      WHEN status < 400 THEN NULL
      WHEN end_reason <> 'refused' THEN
        CASE WHEN status >= 500 OR status IN (401, 402, 403, 408, 425, 429) THEN 'provider' ELSE 'client' END
      WHEN status IN (402, 429) THEN 'limit'
      WHEN status >= 500 THEN 'gateway' ELSE 'client' END AS error,
    input_tokens + more_input_tokens AS input_tokens,
    cached_tokens + more_cached_tokens AS cached_tokens,
    cache_write_5m_tokens + more_cache_write_5m_tokens AS cache_write_5m_tokens,
    cache_write_1h_tokens + more_cache_write_1h_tokens AS cache_write_1h_tokens,
    output_tokens + more_output_tokens AS output_tokens,
    reasoning_tokens + more_reasoning_tokens AS reasoning_tokens,
    audio_input_tokens + more_audio_input_tokens AS audio_input_tokens,
    audio_output_tokens + more_audio_output_tokens AS audio_output_tokens,
    image_input_tokens + more_image_input_tokens AS image_input_tokens,
    image_output_tokens + more_image_output_tokens AS image_output_tokens,
    images + more_images AS images,
    video_seconds + more_video_seconds AS video_seconds,
    web_searches + more_web_searches AS web_searches
  FROM parts p
  CROSS JOIN LATERAL (
    SELECT CASE WHEN charged."input" IS NOT NULL THEN charged."input" WHEN said."input" <> trunc(said."input") THEN 0
        ELSE least(greatest(coalesce(said."input", 0), 0), 1000000000000) END AS input_tokens,
      CASE WHEN charged."cachedInput" IS NOT NULL THEN charged."cachedInput" WHEN said."cachedInput" <> trunc(said."cachedInput") THEN 0
        ELSE least(greatest(coalesce(said."cachedInput", 0), 0), 1000000000000) END AS cached_tokens,
      CASE WHEN charged."cacheWrite5m" IS NOT NULL THEN charged."cacheWrite5m" WHEN said."cacheWrite5m" <> trunc(said."cacheWrite5m") THEN 0
        ELSE least(greatest(coalesce(said."cacheWrite5m", 0), 0), 1000000000000) END AS cache_write_5m_tokens,
      CASE WHEN charged."cacheWrite1h" IS NOT NULL THEN charged."cacheWrite1h" WHEN said."cacheWrite1h" <> trunc(said."cacheWrite1h") THEN 0
        ELSE least(greatest(coalesce(said."cacheWrite1h", 0), 0), 1000000000000) END AS cache_write_1h_tokens,
      CASE WHEN charged."output" IS NOT NULL THEN charged."output" WHEN said."output" <> trunc(said."output") THEN 0
        ELSE least(greatest(coalesce(said."output", 0), 0), 1000000000000) END AS output_tokens,
      CASE WHEN charged."reasoning" IS NOT NULL THEN charged."reasoning" WHEN said."reasoning" <> trunc(said."reasoning") THEN 0
        ELSE least(greatest(coalesce(said."reasoning", 0), 0), 1000000000000) END AS reasoning_tokens,
      CASE WHEN charged."audioInput" IS NOT NULL THEN charged."audioInput" WHEN said."audioInput" <> trunc(said."audioInput") THEN 0
        ELSE least(greatest(coalesce(said."audioInput", 0), 0), 1000000000000) END AS audio_input_tokens,
      CASE WHEN charged."audioOutput" IS NOT NULL THEN charged."audioOutput" WHEN said."audioOutput" <> trunc(said."audioOutput") THEN 0
        ELSE least(greatest(coalesce(said."audioOutput", 0), 0), 1000000000000) END AS audio_output_tokens,
      CASE WHEN charged."imageInput" IS NOT NULL THEN charged."imageInput" WHEN said."imageInput" <> trunc(said."imageInput") THEN 0
        ELSE least(greatest(coalesce(said."imageInput", 0), 0), 1000000000000) END AS image_input_tokens,
      CASE WHEN charged."imageOutput" IS NOT NULL THEN charged."imageOutput" WHEN said."imageOutput" <> trunc(said."imageOutput") THEN 0
        ELSE least(greatest(coalesce(said."imageOutput", 0), 0), 1000000000000) END AS image_output_tokens,
      CASE WHEN charged."images" IS NOT NULL THEN charged."images" WHEN said."images" <> trunc(said."images") THEN 0
        ELSE least(greatest(coalesce(said."images", 0), 0), 1000000000000) END AS images,
      CASE WHEN charged."videoSeconds" IS NOT NULL THEN charged."videoSeconds" WHEN said."videoSeconds" <> trunc(said."videoSeconds") THEN 0
        ELSE least(greatest(coalesce(said."videoSeconds", 0), 0), 1000000000000) END AS video_seconds,
      CASE WHEN charged."webSearches" IS NOT NULL THEN charged."webSearches" WHEN said."webSearches" <> trunc(said."webSearches") THEN 0
        ELSE least(greatest(coalesce(said."webSearches", 0), 0), 1000000000000) END AS web_searches
    FROM json_to_record(coalesce(p.usage, '{}')) AS said ("input" numeric, "cachedInput" numeric, "cacheWrite5m" numeric, "cacheWrite1h" numeric, "output" numeric, "reasoning" numeric, "audioInput" numeric, "audioOutput" numeric, "imageInput" numeric, "imageOutput" numeric, "images" numeric, "videoSeconds" numeric, "webSearches" numeric)
    LEFT JOIN LATERAL (
      SELECT coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{input,audioInput,imageInput}')), 0) AS "input",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{cachedInput}')), 0) AS "cachedInput",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{cacheWrite5m}')), 0) AS "cacheWrite5m",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{cacheWrite1h}')), 0) AS "cacheWrite1h",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{output,reasoning,audioOutput,imageOutput}')), 0) AS "output",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{reasoning}')), 0) AS "reasoning",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{audioInput}')), 0) AS "audioInput",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{audioOutput}')), 0) AS "audioOutput",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{imageInput}')), 0) AS "imageInput",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{imageOutput}')), 0) AS "imageOutput",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{image}')), 0) AS "images",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{videoSecond}')), 0) AS "videoSeconds",
        coalesce(sum(l.quantity) FILTER (WHERE l.class = ANY ('{webSearch}')), 0) AS "webSearches"
      FROM (SELECT split_part(l->>0, ':', 1) AS class, (l->>1)::numeric AS quantity
        FROM json_array_elements(p.lines) AS l) AS l
    ) AS charged ON 'usage_anomaly' = ANY (p.flags)
  ) AS used
  CROSS JOIN LATERAL (
    SELECT coalesce("input", 0) AS more_input_tokens, coalesce("cachedInput", 0) AS more_cached_tokens, coalesce("cacheWrite5m", 0) AS more_cache_write_5m_tokens, coalesce("cacheWrite1h", 0) AS more_cache_write_1h_tokens, coalesce("output", 0) AS more_output_tokens, coalesce("reasoning", 0) AS more_reasoning_tokens, coalesce("audioInput", 0) AS more_audio_input_tokens, coalesce("audioOutput", 0) AS more_audio_output_tokens, coalesce("imageInput", 0) AS more_image_input_tokens, coalesce("imageOutput", 0) AS more_image_output_tokens, coalesce("images", 0) AS more_images, coalesce("videoSeconds", 0) AS more_video_seconds, coalesce("webSearches", 0) AS more_web_searches
    FROM json_to_record(p.more) AS m ("input" numeric, "cachedInput" numeric, "cacheWrite5m" numeric, "cacheWrite1h" numeric, "output" numeric, "reasoning" numeric, "audioInput" numeric, "audioOutput" numeric, "imageInput" numeric, "imageOutput" numeric, "images" numeric, "videoSeconds" numeric, "webSearches" numeric)
  ) AS more
)
SELECT workspace_id, date_bin('15 minutes', at, '2000-01-01T00:00:00Z') AS quarter, key_id, model, provider,
  sum(calls), count(*) FILTER (WHERE end_reason = 'refused'),
  count(*) FILTER (WHERE error = 'client'),
  count(*) FILTER (WHERE error = 'limit'),
  count(*) FILTER (WHERE error = 'provider'),
  count(*) FILTER (WHERE error = 'timeout'),
  count(*) FILTER (WHERE error = 'broken'),
  count(*) FILTER (WHERE error = 'gateway'),
  0,
  sum(tried), count(*) FILTER (WHERE tried > 1),
  sum(input_tokens), sum(cached_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens), sum(reasoning_tokens), sum(audio_input_tokens), sum(audio_output_tokens), sum(image_input_tokens), sum(image_output_tokens), sum(images), sum(video_seconds), sum(web_searches), sum(cost_nano),
  coalesce(sum(('1e' || 12 * width_bucket(latency_ms, bounds))::numeric), 0),
  coalesce(sum(('1e' || 12 * width_bucket(first_byte_ms, bounds))::numeric), 0)
FROM figures, (SELECT '{1,2,3,4,5,6,7,8,9,10,12,14,16,18,20,23,26,29,32,36,40,45,50,56,62,69,76,84,93,103,114,126,139,153,169,186,205,226,249,274,302,333,367,404,445,490,540,595,655,721,794,874,962,1059,1165,1282,1411,1553,1709,1880,2069,2276,2504,2755,3031,3335,3669,4036,4440,4885,5374,5912,6504,7155,7871,8659,9525,10478,11526,12679,13947,15342,16877,18565,20422,22465,24712,27184,29903,32894,36184,39803,43784,48163,52980,58279,64107,70518,77570,85328,93861,103248,113573,124931,137425,151168,166285,182914,201206,221327,243460,267807,294588,324047,356452,392098,431308,474439,521883,574072,631480,694629,764092,840502,924553,1017009,1118710,1230582,1353641,1489006,1637907,1801698,1981868,2180055,2398061,2637868,2901655,3191821,3511004,3862105,4248316,4673148,5140463,5654510,6219962,6841959,7526155,8278771,9106649,10017314,11019046,12120951,13333047,14666352,16132988,17746287,19520916,21473008,23620309,25982340,28580575,31438633,34582497,38040747,41844822,46029305,50632236,55695460,61265007,67391508,74130659,81543725,89698098,98667908,108534699,119388169,131326986,144459685,158905654,174796220,192275843,211503428,232653771,255919149,281511064,309662171,340628389,374691228,412160351,453376387,498714026,548585429,603443972,663788370,730167208,803183929,883502322,971852555,1069037811,1175941593,1293535753,1422889329,1565178262,1721696089,1893865698,2083252268}'::int[] AS bounds) AS buckets
GROUP BY 1, 2, 3, 4, 5
HAVING sum(calls) > 0 OR sum(cost_nano) <> 0 OR sum(input_tokens) <> 0 OR sum(cached_tokens) <> 0 OR sum(cache_write_5m_tokens) <> 0 OR sum(cache_write_1h_tokens) <> 0 OR sum(output_tokens) <> 0 OR sum(reasoning_tokens) <> 0 OR sum(audio_input_tokens) <> 0 OR sum(audio_output_tokens) <> 0 OR sum(image_input_tokens) <> 0 OR sum(image_output_tokens) <> 0 OR sum(images) <> 0 OR sum(video_seconds) <> 0 OR sum(web_searches) <> 0;

-- What the hours count beyond that, because their calls are not kept, counts in the first quarter of its hour; nothing
-- tells the class of its errors.
WITH rebuilt AS (
  SELECT workspace_id, date_trunc('hour', quarter, 'UTC') AS hour, key_id, model, provider, sum(calls) AS calls,
    sum(client_errors + limit_errors + provider_errors + timeout_errors + broken_errors + gateway_errors + other_errors) AS errors, sum(input_tokens) AS input_tokens,
    sum(cached_tokens) AS cached_tokens, sum(output_tokens) AS output_tokens, sum(cost_nano) AS cost_nano
  FROM usage_quarter GROUP BY 1, 2, 3, 4, 5
), left_over AS (
  SELECT workspace_id, hour, key_id, model, provider, h.calls - coalesce(r.calls, 0) AS calls,
    h.errors - coalesce(r.errors, 0) AS errors, h.input_tokens - coalesce(r.input_tokens, 0) AS input_tokens,
    h.cached_tokens - coalesce(r.cached_tokens, 0) AS cached_tokens,
    h.output_tokens - coalesce(r.output_tokens, 0) AS output_tokens, h.cost_nano - coalesce(r.cost_nano, 0) AS cost_nano
  FROM usage_hour h LEFT JOIN rebuilt r USING (workspace_id, hour, key_id, model, provider)
)
INSERT INTO usage_quarter (workspace_id, quarter, key_id, model, provider, calls, other_errors, input_tokens, cached_tokens,
  output_tokens, cost_nano)
SELECT workspace_id, hour, key_id, model, provider, calls, errors, input_tokens, cached_tokens, output_tokens, cost_nano
FROM left_over
WHERE (calls, errors, input_tokens, cached_tokens, output_tokens, cost_nano) <> (0, 0, 0, 0, 0, 0)
ON CONFLICT (workspace_id, quarter, key_id, model, provider) DO UPDATE SET
  calls = usage_quarter.calls + excluded.calls, other_errors = usage_quarter.other_errors + excluded.other_errors,
  input_tokens = usage_quarter.input_tokens + excluded.input_tokens,
  cached_tokens = usage_quarter.cached_tokens + excluded.cached_tokens,
  output_tokens = usage_quarter.output_tokens + excluded.output_tokens,
  cost_nano = usage_quarter.cost_nano + excluded.cost_nano;

DROP TABLE "usage_hour";
ANALYZE "usage_quarter";
