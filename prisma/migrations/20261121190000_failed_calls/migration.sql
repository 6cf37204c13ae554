-- The log of what failed: few of many calls, which the index of all calls of a workspace finds by reading all.
CREATE INDEX "call_workspace_id_failed_idx" ON "call" ("workspace_id", "id") WHERE "status" >= 400;
