-- The day on which the provider stops serving an offer; without one, that of its model.
ALTER TABLE "offer" ADD COLUMN "retires" TEXT;

-- Addresses of a family that take the credential in another header than the family's own.
ALTER TABLE "provider" ADD COLUMN "credential_headers" JSONB NOT NULL DEFAULT '{}';
