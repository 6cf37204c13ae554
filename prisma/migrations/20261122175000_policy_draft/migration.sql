-- A policy that somebody works on and nobody routes by: one for each place of a workspace. Its revision tells two
-- editors apart.
CREATE TABLE "policy_draft" (
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "model_id" TEXT NOT NULL DEFAULT '',
  "policy" JSONB NOT NULL,
  "base_version" INTEGER NOT NULL,
  "revision" INTEGER NOT NULL,
  "saved_by" UUID,
  "saved_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("workspace_id", "model_id")
);
