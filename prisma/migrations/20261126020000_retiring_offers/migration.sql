-- The day on which the provider stops serving an offer; that of the model stands for offers that have none.
ALTER TABLE "offer" ADD COLUMN "retires" TEXT;

-- Addresses of a family that take the credential in another header than the family's own.
ALTER TABLE "provider" ADD COLUMN "credential_headers" JSONB NOT NULL DEFAULT '{}';
