-- What providers keep for workspaces, and the jobs that are charged when they end.

CREATE TABLE "resource" (
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "kind" TEXT NOT NULL,
  "id" TEXT NOT NULL,
  "provider_id" TEXT NOT NULL,
  "family" TEXT NOT NULL,
  "model_id" TEXT NOT NULL,
  "upstream_model" TEXT NOT NULL,
  "call_id" UUID NOT NULL,
  "job" BOOLEAN NOT NULL DEFAULT false,
  "tokens" BIGINT NOT NULL DEFAULT 0,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "deleted_at" TIMESTAMPTZ(3),
  PRIMARY KEY ("workspace_id", "kind", "id")
);
CREATE INDEX "resource_created_at_idx" ON "resource" ("created_at");
CREATE INDEX "resource_call_id_idx" ON "resource" ("call_id");
CREATE INDEX "resource_id_idx" ON "resource" USING HASH ("id");

-- Its id is its create call's, and so is its hold's. Prompts and answers are not stored.
CREATE TABLE "job" (
  "call_id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "key_id" UUID NOT NULL,
  "family" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "upstream_id" TEXT NOT NULL,
  "provider_id" TEXT NOT NULL,
  "model_id" TEXT NOT NULL,
  "upstream_model" TEXT NOT NULL,
  "offer_id" UUID NOT NULL,
  "price_version_id" UUID NOT NULL,
  "hold_nano" BIGINT NOT NULL,
  "facts" JSONB NOT NULL,
  "state" TEXT NOT NULL,
  "view" JSONB,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "next_poll_at" TIMESTAMPTZ(3),
  "polls" INTEGER NOT NULL DEFAULT 0,
  "misses" INTEGER NOT NULL DEFAULT 0,
  "removing" TEXT,
  "lost_at" TIMESTAMPTZ(3),
  "settled_at" TIMESTAMPTZ(3),
  "cost_nano" BIGINT NOT NULL DEFAULT 0,
  "over_hold_nano" BIGINT NOT NULL DEFAULT 0,
  "usage_source" TEXT NOT NULL DEFAULT 'none',
  "usage" JSONB,
  "lines" JSONB,
  "flags" TEXT[],
  "deleted_at" TIMESTAMPTZ(3)
);
CREATE INDEX "job_next_poll_at_idx" ON "job" ("next_poll_at");
CREATE INDEX "job_workspace_id_kind_call_id_idx" ON "job" ("workspace_id", "kind", "call_id");
