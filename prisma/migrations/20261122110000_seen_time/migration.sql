-- The time up to which the clock has been believed: retention never drops what this time does not allow. One row,
-- made by the first process that looks.
CREATE TABLE "seen_time" (
  "one" INTEGER NOT NULL DEFAULT 1 CHECK ("one" = 1),
  "at" TIMESTAMPTZ(3) NOT NULL,
  "ahead_ms" BIGINT NOT NULL DEFAULT 0,
  CONSTRAINT "seen_time_pkey" PRIMARY KEY ("one")
);
