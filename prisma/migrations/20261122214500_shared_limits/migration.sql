-- Shared limits without Redis: nothing here outlives 65 s, and the processes tell it again when it is lost, so no
-- write needs to survive a crash of the server.
CREATE UNLOGGED TABLE "limit_grant" (
  "subject_id" UUID NOT NULL,
  "id" TEXT NOT NULL,
  "at_ms" DOUBLE PRECISION NOT NULL,
  "requests" BIGINT NOT NULL,
  "tokens" BIGINT NOT NULL,
  CONSTRAINT "limit_grant_pkey" PRIMARY KEY ("subject_id", "id")
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

CREATE INDEX "limit_grant_at_ms_idx" ON "limit_grant" ("at_ms");

CREATE UNLOGGED TABLE "limit_slot" (
  "subject_id" UUID NOT NULL,
  "process" TEXT NOT NULL,
  "slots" INTEGER NOT NULL,
  "until_ms" DOUBLE PRECISION NOT NULL,
  CONSTRAINT "limit_slot_pkey" PRIMARY KEY ("subject_id", "process")
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

CREATE UNLOGGED TABLE "limit_turn" (
  "workspace_id" UUID NOT NULL,
  "process" TEXT NOT NULL,
  "turn" BIGINT NOT NULL,
  "answer" TEXT NOT NULL,
  "at_ms" DOUBLE PRECISION NOT NULL,
  CONSTRAINT "limit_turn_pkey" PRIMARY KEY ("workspace_id", "process")
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);
