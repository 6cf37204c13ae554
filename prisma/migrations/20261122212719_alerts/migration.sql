-- What people are told of a workspace, by mail and by webhooks of their own.

-- Kinds of alerts that a workspace does not want.
ALTER TABLE "workspace" ADD COLUMN "muted_alerts" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- The day from which a model is no longer served, as its provider says: "2027-01-31".
ALTER TABLE "model" ADD COLUMN "retires" TEXT;

-- Something that people should know of, from when it was found until it has passed.
CREATE TABLE "alert" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "kind" TEXT NOT NULL,
  -- What it is about: a key, an offer, a model, a limit; with the level that was reached.
  "subject" TEXT NOT NULL,
  "facts" JSONB NOT NULL,
  "raised_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "ended_at" TIMESTAMPTZ(3)
);
CREATE UNIQUE INDEX "alert_one_open" ON "alert" ("workspace_id", "kind", "subject") WHERE "ended_at" IS NULL;
CREATE INDEX "alert_workspace_id_raised_at_idx" ON "alert" ("workspace_id", "raised_at");

-- Where events are sent; the secret that signs them is sealed under the key of the gateway, bound to the row.
CREATE TABLE "webhook" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "url" TEXT NOT NULL,
  "secret" TEXT NOT NULL,
  "enabled" BOOLEAN NOT NULL DEFAULT true,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX "webhook_workspace_id_idx" ON "webhook" ("workspace_id");

-- Each event for each webhook, and what became of it.
CREATE TABLE "webhook_delivery" (
  "id" UUID NOT NULL PRIMARY KEY,
  "webhook_id" UUID NOT NULL REFERENCES "webhook" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "workspace_id" UUID NOT NULL,
  "event" TEXT NOT NULL,
  "body" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- From when the 24 hours of tries count: redelivery begins anew.
  "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "tries" INTEGER NOT NULL DEFAULT 0,
  -- null: it was taken, or given up.
  "next_try_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
  -- A process that tries it has it until then.
  "taken_until" TIMESTAMPTZ(3),
  "delivered_at" TIMESTAMPTZ(3),
  "status" INTEGER,
  "error" TEXT
);
CREATE INDEX "webhook_delivery_next_try_at_idx" ON "webhook_delivery" ("next_try_at");
CREATE INDEX "webhook_delivery_webhook_id_id_idx" ON "webhook_delivery" ("webhook_id", "id");
CREATE INDEX "webhook_delivery_created_at_idx" ON "webhook_delivery" ("created_at");
