-- Which encryption keys a process has, by their prints: what it seals must open everywhere.
ALTER TABLE "owner" ADD COLUMN "key_prints" TEXT[];
