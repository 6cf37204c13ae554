-- Of a file of requests: what its lines ask for together. Null, as of every row so far: it is none.
ALTER TABLE "resource" ADD COLUMN "facts" JSONB;

CREATE TABLE "batch_line" (
  "call_id" UUID NOT NULL,
  "custom_id" TEXT NOT NULL,
  "workspace_id" UUID NOT NULL,
  "status" INTEGER,
  "error_code" TEXT,
  "cost_nano" BIGINT NOT NULL,
  "usage" JSON NOT NULL,
  "lines" JSON NOT NULL,
  "flags" TEXT[],
  CONSTRAINT "batch_line_pkey" PRIMARY KEY ("call_id", "custom_id"),
  CONSTRAINT "batch_line_call_id_fkey" FOREIGN KEY ("call_id") REFERENCES "job"("call_id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "batch_line_workspace_id_custom_id_idx" ON "batch_line"("workspace_id", "custom_id");

CREATE TABLE "file_room" (
  "call_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "bytes" BIGINT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "file_room_pkey" PRIMARY KEY ("call_id"),
  CONSTRAINT "file_room_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "file_room_workspace_id_idx" ON "file_room"("workspace_id");
