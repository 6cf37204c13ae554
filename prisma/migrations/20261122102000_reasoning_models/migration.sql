-- Models whose output may hold thinking that the client does not see: what a departed client caused is then
-- estimated by the time that the provider worked. Applying the catalogue files marks them.
ALTER TABLE "model" ADD COLUMN "reasoning" BOOLEAN NOT NULL DEFAULT false;
