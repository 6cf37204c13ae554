-- Running calls of processes that settle without a journal: what recovery needs of each, and until when it counts as
-- running. Whoever deletes the row ends the call, so that it ends once.
CREATE TABLE "open_call" (
    "call_id" UUID NOT NULL,
    "entry" BYTEA NOT NULL,
    "checkpoint" BYTEA,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "open_call_pkey" PRIMARY KEY ("call_id")
);

CREATE INDEX "open_call_expires_at_idx" ON "open_call"("expires_at");
