-- Cached audio and cached images: parts of cached input that some providers price differently.
ALTER TABLE "usage_quarter"
  ADD COLUMN "cached_audio_tokens" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "cached_image_tokens" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_quarter_counted"
  ADD COLUMN "cached_audio_tokens" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "cached_image_tokens" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_day"
  ADD COLUMN "cached_audio_tokens" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "cached_image_tokens" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_quarter_total"
  ADD COLUMN "cached_audio_tokens" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "cached_image_tokens" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_day_total"
  ADD COLUMN "cached_audio_tokens" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "cached_image_tokens" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_day_key"
  ADD COLUMN "cached_audio_tokens" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "cached_image_tokens" BIGINT NOT NULL DEFAULT 0;
