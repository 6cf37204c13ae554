-- Below which funds people are told by mail, and since when the funds are below it (null: they are not, or nobody noticed yet).
ALTER TABLE "workspace" ADD COLUMN "low_balance_nano" BIGINT;
ALTER TABLE "workspace" ADD COLUMN "low_balance_since" TIMESTAMPTZ(3);
-- Neither column changes with a charge, so that charges touch no index.
CREATE INDEX "workspace_low_balance_idx" ON "workspace" ("id")
  WHERE "low_balance_nano" IS NOT NULL OR "low_balance_since" IS NOT NULL;
