-- Where a provider publishes its prices, for people who compare them.
ALTER TABLE "provider" ADD COLUMN "prices_from" TEXT;
