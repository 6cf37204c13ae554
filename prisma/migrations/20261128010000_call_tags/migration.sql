ALTER TABLE "workspace" ADD COLUMN "tags" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "end_users" BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE "tag" (
  "id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "value" TEXT NOT NULL,
  CONSTRAINT "tag_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "tag_workspace_id_name_idx" ON "tag"("workspace_id", "name");

CREATE TABLE "call_tag" (
  "call_id" UUID NOT NULL,
  "tag_id" UUID NOT NULL,
  CONSTRAINT "call_tag_pkey" PRIMARY KEY ("call_id", "tag_id")
);

CREATE INDEX "call_tag_tag_id_call_id_idx" ON "call_tag"("tag_id", "call_id");

CREATE TABLE "tag_quarter" (
  "tag_id" UUID NOT NULL,
  "quarter" TIMESTAMPTZ(3) NOT NULL,
  "workspace_id" UUID NOT NULL,
  "calls" INTEGER NOT NULL DEFAULT 0,
  "refused" INTEGER NOT NULL DEFAULT 0,
  "errors" INTEGER NOT NULL DEFAULT 0,
  "input_tokens" BIGINT NOT NULL DEFAULT 0,
  "output_tokens" BIGINT NOT NULL DEFAULT 0,
  "cost_nano" BIGINT NOT NULL DEFAULT 0,
  CONSTRAINT "tag_quarter_pkey" PRIMARY KEY ("tag_id", "quarter")
);
CREATE INDEX "tag_quarter_workspace_id_quarter_idx" ON "tag_quarter"("workspace_id", "quarter");

CREATE TABLE "tag_budget" (
  "id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "value" TEXT NOT NULL DEFAULT '',
  "daily_cap_nano" BIGINT,
  "d7_cap_nano" BIGINT,
  "d30_cap_nano" BIGINT,
  "rpm" INTEGER,
  "tpm" INTEGER,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "tag_budget_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "tag_budget_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id")
    ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "tag_budget_workspace_id_name_value_key" ON "tag_budget"("workspace_id", "name", "value");

CREATE TABLE "hold_tag" (
  "call_id" UUID NOT NULL,
  "tag_id" UUID NOT NULL,
  CONSTRAINT "hold_tag_pkey" PRIMARY KEY ("call_id", "tag_id"),
  CONSTRAINT "hold_tag_call_id_fkey" FOREIGN KEY ("call_id") REFERENCES "hold"("call_id")
    ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "hold_tag_tag_id_idx" ON "hold_tag"("tag_id");
