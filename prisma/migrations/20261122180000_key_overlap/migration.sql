-- The first and last characters of the secret before a rotation, so that people know which one still works.
ALTER TABLE "api_key" ADD COLUMN "old_display" TEXT;
