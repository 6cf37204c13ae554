-- The exporter asks for what was settled since it last looked.
CREATE INDEX "job_settled_at_idx" ON "job" ("settled_at");
CREATE INDEX "adjustment_settled_at_idx" ON "adjustment" ("settled_at");
