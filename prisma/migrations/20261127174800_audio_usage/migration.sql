-- Text that was spoken, and audio that was made or read: classes of usage of the families speech and transcriptions.
ALTER TABLE "usage_quarter"
  ADD COLUMN "characters" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "audio_ms" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_quarter_counted"
  ADD COLUMN "characters" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "audio_ms" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_day"
  ADD COLUMN "characters" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "audio_ms" BIGINT NOT NULL DEFAULT 0;
