-- A call whose usage was estimated, because nobody saw its answer end, and whose stored response was retrieved with
-- its usage later. The difference is one ledger line of kind `adjustment` with the call's id as its ref. A row
-- without `settled_at` waits for its call's row, which may still lie in a journal.
CREATE TABLE "adjustment" (
  "call_id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL,
  "report" JSONB NOT NULL,
  "seen_at" TIMESTAMPTZ(3) NOT NULL,
  "settled_at" TIMESTAMPTZ(3),
  "usage" JSONB,
  "lines" JSONB,
  "flags" TEXT[],
  "cost_nano" BIGINT NOT NULL DEFAULT 0,
  "amount_nano" BIGINT NOT NULL DEFAULT 0,
  "over_hold_nano" BIGINT NOT NULL DEFAULT 0,
  "more_input" BIGINT NOT NULL DEFAULT 0,
  "more_cached" BIGINT NOT NULL DEFAULT 0,
  "more_output" BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX "adjustment_waiting_idx" ON "adjustment" ("seen_at") WHERE "settled_at" IS NULL;
