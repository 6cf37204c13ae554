-- How long a workspace keeps its calls, days; NULL: as long as the gateway does. Older ones are hidden at once.
ALTER TABLE "workspace" ADD COLUMN "retention_days" INTEGER CHECK ("retention_days" >= 1);
-- The first call id that its own retention cannot have deleted.
ALTER TABLE "workspace" ADD COLUMN "calls_kept_from" UUID;
