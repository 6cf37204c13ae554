ALTER TABLE "workspace" ADD COLUMN "idempotency" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "cache" TEXT NOT NULL DEFAULT 'off',
  ADD COLUMN "cache_seconds" INTEGER NOT NULL DEFAULT 3600;

ALTER TABLE "api_key" ADD COLUMN "idempotency" TEXT NOT NULL DEFAULT 'inherit',
  ADD COLUMN "cache" TEXT NOT NULL DEFAULT 'inherit';

CREATE TABLE "kept_answer" (
  "workspace_id" UUID NOT NULL,
  "name" BYTEA NOT NULL,
  "kind" TEXT NOT NULL,
  "key_id" UUID NOT NULL,
  "request" BYTEA NOT NULL,
  "call_id" UUID NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "claimed_until" TIMESTAMPTZ(3),
  "keep_until" TIMESTAMPTZ(3) NOT NULL,
  "sealed" BYTEA,
  "bytes" INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT "kept_answer_pkey" PRIMARY KEY ("workspace_id", "name")
);

-- It is compressed already.
ALTER TABLE "kept_answer" ALTER COLUMN "sealed" SET STORAGE EXTERNAL;

CREATE INDEX "kept_answer_keep_until_idx" ON "kept_answer"("keep_until");
CREATE INDEX "kept_answer_call_id_idx" ON "kept_answer"("call_id");

CREATE TABLE "call_repeat" (
  "call_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "key_id" UUID NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "model" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "of_call_id" UUID NOT NULL,
  "cost_nano" BIGINT NOT NULL,
  CONSTRAINT "call_repeat_pkey" PRIMARY KEY ("call_id")
);

CREATE INDEX "call_repeat_workspace_id_at_idx" ON "call_repeat"("workspace_id", "at");
