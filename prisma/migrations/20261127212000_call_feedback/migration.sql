CREATE TABLE "call_feedback" (
  "call_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "key_id" UUID NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "model" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "score" REAL,
  "label" TEXT,
  "text" BYTEA,
  "given_by" TEXT NOT NULL,
  "given_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "call_feedback_pkey" PRIMARY KEY ("call_id")
);

CREATE INDEX "call_feedback_workspace_id_at_idx" ON "call_feedback"("workspace_id", "at");
