CREATE TABLE "own_key" (
  "id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "provider_id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "secret" TEXT,
  "pending" TEXT,
  "use" TEXT NOT NULL DEFAULT 'first',
  "models" TEXT[],
  "address" TEXT,
  "created_by" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "tested_at" TIMESTAMPTZ(3),
  "failure" TEXT,
  CONSTRAINT "own_key_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "own_key_workspace_id_name_key" ON "own_key"("workspace_id", "name");

ALTER TABLE "own_key" ADD CONSTRAINT "own_key_workspace_id_fkey"
  FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "own_key" ADD CONSTRAINT "own_key_provider_id_fkey"
  FOREIGN KEY ("provider_id") REFERENCES "provider"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The list price of calls by own keys. Processes of the version before write 0, as they call none.
ALTER TABLE "usage_quarter" ADD COLUMN "own_list_nano" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_quarter_counted" ADD COLUMN "own_list_nano" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_day" ADD COLUMN "own_list_nano" BIGINT NOT NULL DEFAULT 0;
