-- What models and offers can do and cannot, and which operations offers serve; nothing is known of those that exist.
ALTER TABLE "model" ADD COLUMN "abilities" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "offer" ADD COLUMN "abilities" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "offer" ADD COLUMN "operations" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- A credential's own limits; those that exist have none.
ALTER TABLE "credential" ADD COLUMN "rpm" INTEGER;
ALTER TABLE "credential" ADD COLUMN "tpm" INTEGER;
