-- What one process of all does at a time: who takes the row has it until "taken_until".
CREATE TABLE "fleet_duty" (
  "name" TEXT NOT NULL PRIMARY KEY,
  "taken_until" TIMESTAMPTZ(3),
  "done_at" TIMESTAMPTZ(3),
  "result" JSONB
);
INSERT INTO "fleet_duty" ("name") VALUES ('reconcile');

-- How much usage Stripe was last told of: a database that was restored from an older copy has less than that.
ALTER TABLE "payer" ADD COLUMN "told_nano" BIGINT NOT NULL DEFAULT 0;

-- Usage that was charged once and that this database has lost.
CREATE TABLE "lost_usage" (
  "customer" TEXT NOT NULL,
  "told_nano" BIGINT NOT NULL,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "nano" BIGINT NOT NULL,
  "until" TIMESTAMPTZ(3),
  "noticed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("customer", "told_nano")
);
CREATE INDEX "lost_usage_noticed_at_idx" ON "lost_usage" ("noticed_at");

-- What moved money beside usage, by workspace: little of the ledger.
CREATE INDEX "ledger_line_moved_idx" ON "ledger_line" ("workspace_id") INCLUDE ("amount_nano") WHERE "kind" <> 'usage';

ALTER TABLE "top_up" ADD COLUMN "invoice_url" TEXT;
