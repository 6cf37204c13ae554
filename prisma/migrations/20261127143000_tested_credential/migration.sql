-- How the latest test of a provider ended, and with which stored credential: it says nothing about another one.
ALTER TABLE "provider" ADD COLUMN "tested_at" TIMESTAMPTZ(3), ADD COLUMN "tested_as" TEXT, ADD COLUMN "test_failure" TEXT;
