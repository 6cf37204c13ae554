-- How far each journal is in the database, for ever: a file that comes back after its calls were deleted posts nothing.
-- Of a file what ends up to `drained_to`; `all_before`: all files of lower numbers too. `ended`: calls that were opened
-- up to there have ended.
CREATE TABLE "journal_position" (
  "owner_id" UUID NOT NULL,
  "file" INTEGER NOT NULL,
  "drained_to" BIGINT NOT NULL,
  "all_before" BOOLEAN NOT NULL,
  "ended" BOOLEAN NOT NULL DEFAULT false,
  PRIMARY KEY ("owner_id", "file")
) WITH (fillfactor = 80);

-- Calls that were posted from no place in a journal, for ever: interrupted ones, and records that were set aside.
CREATE TABLE "settled_apart" (
  "call_id" UUID NOT NULL PRIMARY KEY
);

-- Owners of lower ids are of versions that kept no positions.
CREATE TABLE "journal_since" (
  "one" INTEGER NOT NULL DEFAULT 1 PRIMARY KEY CHECK ("one" = 1),
  "owner_id" UUID NOT NULL
);
INSERT INTO "journal_since" ("owner_id")
VALUES ((lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid);
