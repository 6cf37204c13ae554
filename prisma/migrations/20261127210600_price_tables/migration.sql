-- Public price tables as they were last read, the proposals of them that operators have dismissed, and for each provider
-- whether new models are accepted without asking.
CREATE TABLE "price_table" (
  "id" TEXT PRIMARY KEY,
  "daily" BOOLEAN NOT NULL DEFAULT false,
  "entries" JSONB,
  "unknown" JSONB NOT NULL DEFAULT '[]',
  "others" INTEGER NOT NULL DEFAULT 0,
  "seen" TEXT[] DEFAULT ARRAY[]::TEXT[],
  "read_from" TEXT,
  "read_at" TIMESTAMPTZ(3),
  "failure" TEXT,
  "failed_at" TIMESTAMPTZ(3)
);
CREATE TABLE "dismissed_proposal" (
  "id" TEXT PRIMARY KEY,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT now()
);
ALTER TABLE "provider" ADD COLUMN "accept_new_models" BOOLEAN NOT NULL DEFAULT false;
INSERT INTO "price_table" ("id") VALUES ('models.dev'), ('litellm');
INSERT INTO "fleet_duty" ("name") VALUES ('price-tables');
