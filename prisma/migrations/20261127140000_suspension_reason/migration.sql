-- What the members of a suspended workspace read: why, and whom to ask.
ALTER TABLE "workspace" ADD COLUMN "suspended_reason" TEXT, ADD COLUMN "suspended_contact" TEXT;
