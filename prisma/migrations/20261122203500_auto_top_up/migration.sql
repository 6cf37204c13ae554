-- Who pays for a workspace: its customer at Stripe, one each for real and for test money, and the card that is kept there.
CREATE TABLE "payer" (
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "livemode" BOOLEAN NOT NULL,
  "customer" TEXT NOT NULL,
  "payment_method" TEXT,
  "card_brand" TEXT,
  "card_last4" TEXT,
  -- "2034-12"
  "card_expires" TEXT,
  PRIMARY KEY ("workspace_id", "livemode")
);
CREATE UNIQUE INDEX "payer_customer_key" ON "payer" ("customer");
INSERT INTO "payer" ("workspace_id", "livemode", "customer")
  SELECT DISTINCT ON ("workspace_id", "livemode") "workspace_id", "livemode", "customer" FROM "top_up"
  WHERE "customer" IS NOT NULL ORDER BY "workspace_id", "livemode", "created_at" DESC
  ON CONFLICT DO NOTHING;

ALTER TABLE "top_up"
  -- Ordered by usage, not by a person.
  ADD COLUMN "auto" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "save_card" BOOLEAN NOT NULL DEFAULT false,
  -- Of an automatic one: the card to charge. It never changes, as the idempotency key stands for it too.
  ADD COLUMN "payment_method" TEXT,
  ADD COLUMN "tries" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "next_try_at" TIMESTAMPTZ(3),
  ADD COLUMN "failure" TEXT;
-- However many processes see a threshold crossed: one automatic top-up at a time.
CREATE UNIQUE INDEX "top_up_auto_open_key" ON "top_up" ("workspace_id") WHERE "auto" AND "status" = 'open';

CREATE TABLE "auto_top_up" (
  "workspace_id" UUID NOT NULL PRIMARY KEY REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "enabled" BOOLEAN NOT NULL,
  "threshold_nano" BIGINT NOT NULL CHECK ("threshold_nano" >= 0),
  "cents" INTEGER NOT NULL CHECK ("cents" > 0),
  "month_cents" INTEGER NOT NULL CHECK ("month_cents" >= "cents"),
  -- The balance was below the threshold already when it was switched on, or after money came: the next usage counts as the crossing.
  "armed" BOOLEAN NOT NULL DEFAULT false,
  -- Usage has crossed the threshold, and what follows from it has not ended.
  "due_at" TIMESTAMPTZ(3),
  "order_id" UUID,
  -- The cap of the month is used up until then.
  "waits_until" TIMESTAMPTZ(3),
  "paused_at" TIMESTAMPTZ(3),
  "paused_reason" TEXT CHECK ("paused_reason" IN ('declined', 'authentication_required', 'dispute', 'no_card', 'unreachable', 'mismatch')),
  "paused_detail" TEXT,
  CHECK (("paused_at" IS NULL) = ("paused_reason" IS NULL))
);
CREATE INDEX "auto_top_up_due_at_idx" ON "auto_top_up" ("due_at");
