-- An order to pay by card: written before Stripe hears of it. Its amount, and nothing that a payment says of itself, is
-- what a payment credits.
CREATE TABLE "top_up" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "cents" INTEGER NOT NULL CHECK ("cents" > 0),
  "fee_cents" INTEGER NOT NULL CHECK ("fee_cents" >= 0),
  "livemode" BOOLEAN NOT NULL,
  "status" TEXT NOT NULL DEFAULT 'open' CHECK ("status" IN ('open', 'paid', 'expired', 'failed', 'refunded')),
  "session_id" TEXT,
  "session_url" TEXT,
  "payment_intent" TEXT,
  "customer" TEXT,
  "receipt_url" TEXT,
  "refunded_cents" INTEGER NOT NULL DEFAULT 0,
  "paid_at" TIMESTAMPTZ(3)
);
CREATE UNIQUE INDEX "top_up_session_id_key" ON "top_up" ("session_id");
CREATE UNIQUE INDEX "top_up_payment_intent_key" ON "top_up" ("payment_intent");
CREATE INDEX "top_up_workspace_id_created_at_idx" ON "top_up" ("workspace_id", "created_at");

-- Every event of Stripe's that was handled, once: in the transaction of its effect.
CREATE TABLE "stripe_event" (
  "id" TEXT NOT NULL PRIMARY KEY,
  "type" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "handled_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "outcome" TEXT NOT NULL CHECK ("outcome" IN ('applied', 'ignored', 'quarantined')),
  "why" TEXT,
  "top_up_id" UUID,
  "payment_intent" TEXT
);
CREATE INDEX "stripe_event_outcome_handled_at_idx" ON "stripe_event" ("outcome", "handled_at");
