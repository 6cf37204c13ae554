ALTER TABLE "workspace" ADD COLUMN "content" TEXT NOT NULL DEFAULT 'off',
  ADD COLUMN "content_share" INTEGER NOT NULL DEFAULT 100,
  ADD COLUMN "content_days" INTEGER NOT NULL DEFAULT 7,
  ADD COLUMN "content_deleted_at" TIMESTAMPTZ(3);

ALTER TABLE "api_key" ADD COLUMN "content" TEXT NOT NULL DEFAULT 'inherit',
  ADD COLUMN "content_deleted_at" TIMESTAMPTZ(3);

CREATE TABLE "call_content" (
  "call_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "key_id" UUID NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "keep_until" TIMESTAMPTZ(3) NOT NULL,
  "sealed" BYTEA NOT NULL,
  CONSTRAINT "call_content_pkey" PRIMARY KEY ("call_id")
);

-- It is compressed already.
ALTER TABLE "call_content" ALTER COLUMN "sealed" SET STORAGE EXTERNAL;

CREATE INDEX "call_content_keep_until_idx" ON "call_content"("keep_until");
CREATE INDEX "call_content_workspace_id_key_id_idx" ON "call_content"("workspace_id", "key_id");
