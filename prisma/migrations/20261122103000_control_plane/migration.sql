-- Keys of the management API, of a workspace with a role or (both null) of the operator. Hashed as API keys are.
CREATE TABLE "management_key" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "role" TEXT,
  "name" TEXT NOT NULL,
  "hash" BYTEA NOT NULL,
  "display_start" TEXT NOT NULL,
  "display_end" TEXT NOT NULL,
  "created_by" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "revoked_at" TIMESTAMPTZ(3),
  CHECK (("workspace_id" IS NULL) = ("role" IS NULL))
);
CREATE UNIQUE INDEX "management_key_hash_key" ON "management_key" ("hash");
CREATE INDEX "management_key_workspace_id_id_idx" ON "management_key" ("workspace_id", "id");

-- Answers of mutations that were sent with an Idempotency-Key, sealed; kept for 24 hours.
CREATE TABLE "stored_answer" (
  "management_key_id" UUID NOT NULL REFERENCES "management_key" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "token" TEXT NOT NULL,
  "request" TEXT NOT NULL,
  "answer" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("management_key_id", "token")
);
CREATE INDEX "stored_answer_created_at_idx" ON "stored_answer" ("created_at");

-- What a mutation changed, and from where it was asked for; older rows have only their detail.
ALTER TABLE "audit" ADD COLUMN "before" JSONB, ADD COLUMN "after" JSONB, ADD COLUMN "address" TEXT;
