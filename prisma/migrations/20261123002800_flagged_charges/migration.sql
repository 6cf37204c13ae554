-- Like that of calls: charges that operators look at.
CREATE INDEX "job_flagged_idx" ON "job" ("call_id") WHERE "flags" && ARRAY['usage_anomaly', 'unpriced_tier'];
CREATE INDEX "adjustment_flagged_idx" ON "adjustment" ("call_id") WHERE "flags" && ARRAY['usage_anomaly', 'unpriced_tier'];
