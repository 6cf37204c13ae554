-- What lists show of a resource, and when a call last saw it so. Null: no list shows it, as of every row so far.
ALTER TABLE "resource" ADD COLUMN "view" JSONB;
ALTER TABLE "resource" ADD COLUMN "viewed_at" TIMESTAMPTZ(3);
CREATE INDEX "resource_listed_idx" ON "resource" ("workspace_id", "kind", "created_at", "id") WHERE "view" IS NOT NULL;
