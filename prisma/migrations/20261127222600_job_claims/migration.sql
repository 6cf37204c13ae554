-- Which process is asking for a job now: its claim ends when that process does.
ALTER TABLE "job" ADD COLUMN "polled_by" UUID;

CREATE INDEX "job_polled_by_idx" ON "job"("polled_by");
