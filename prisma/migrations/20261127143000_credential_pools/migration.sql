-- Pools of credentials. The secret of the credential "default" stays where it is, in its provider's row, where processes
-- of the version before and the catalogue's files find it.
CREATE TABLE "credential" (
    "provider_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "secret" JSONB,
    "weight" INTEGER NOT NULL DEFAULT 1,
    "priority" INTEGER NOT NULL DEFAULT 1,
    "models" TEXT[],
    "withdrawn_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "credential_pkey" PRIMARY KEY ("provider_id","name")
);
ALTER TABLE "credential" ADD CONSTRAINT "credential_provider_id_fkey"
    FOREIGN KEY ("provider_id") REFERENCES "provider"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The name of the credential that made it; null: "default", also in rows of the version before.
ALTER TABLE "resource" ADD COLUMN "credential" TEXT;
ALTER TABLE "job" ADD COLUMN "credential" TEXT;
