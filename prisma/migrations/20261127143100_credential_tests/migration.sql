-- How the latest test of a credential ended, and with which stored secret: it says nothing about another one.
CREATE TABLE "credential_test" (
    "provider_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "tested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "tested_as" TEXT,
    "failure" TEXT,

    CONSTRAINT "credential_test_pkey" PRIMARY KEY ("provider_id","name")
);
ALTER TABLE "credential_test" ADD CONSTRAINT "credential_test_provider_id_fkey"
    FOREIGN KEY ("provider_id") REFERENCES "provider"("id") ON DELETE CASCADE ON UPDATE CASCADE;
