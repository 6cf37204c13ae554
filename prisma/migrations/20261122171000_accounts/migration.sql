-- Accounts that people make themselves: proven addresses, sessions as rows, tokens of links, sign-in by others, mail.

-- Whoever is there by now was made by an operator, who vouches for the address.
ALTER TABLE "user"
  ADD COLUMN "email_verified_at" TIMESTAMPTZ(3),
  -- The workspace that signing up made; it gets the credit for new ones.
  ADD COLUMN "sign_up_workspace_id" UUID REFERENCES "workspace" ("id") ON DELETE SET NULL ON UPDATE CASCADE;
UPDATE "user" SET "email_verified_at" = "created_at";

-- A session is in force as long as its row is there and has its user's version. Sessions from before have no row:
-- their owners sign in again.
DROP TABLE "ended_session";
CREATE TABLE "session" (
  "id" UUID NOT NULL PRIMARY KEY,
  "user_id" UUID NOT NULL REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "version" INTEGER NOT NULL,
  "method" TEXT NOT NULL,
  "user_agent" TEXT,
  "address" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "ends_at" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "session_user_id_idx" ON "session" ("user_id");
CREATE INDEX "session_ends_at_idx" ON "session" ("ends_at");

-- Links in mail: hashed, used once.
CREATE TABLE "account_token" (
  "id" UUID NOT NULL PRIMARY KEY,
  "user_id" UUID NOT NULL REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "purpose" TEXT NOT NULL,
  "hash" BYTEA NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "used_at" TIMESTAMPTZ(3)
);
CREATE UNIQUE INDEX "account_token_hash_key" ON "account_token" ("hash");
CREATE INDEX "account_token_user_id_idx" ON "account_token" ("user_id");
CREATE INDEX "account_token_expires_at_idx" ON "account_token" ("expires_at");

-- Accounts at GitHub and Google that a user signs in with.
CREATE TABLE "linked_account" (
  "provider" TEXT NOT NULL,
  "subject" TEXT NOT NULL,
  "user_id" UUID NOT NULL REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "email" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("provider", "subject")
);
CREATE INDEX "linked_account_user_id_idx" ON "linked_account" ("user_id");

-- Mail to be sent: what it is about, not its text, so that no link stands in the database.
CREATE TABLE "mail" (
  "id" UUID NOT NULL PRIMARY KEY,
  "kind" TEXT NOT NULL,
  "recipient" TEXT NOT NULL,
  "facts" JSONB NOT NULL DEFAULT '{}',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  -- null: it was sent, given up, or found to need no sending.
  "next_try_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
  "tries" INTEGER NOT NULL DEFAULT 0,
  "sent_at" TIMESTAMPTZ(3),
  "error" TEXT
);
CREATE INDEX "mail_next_try_at_idx" ON "mail" ("next_try_at");
CREATE INDEX "mail_created_at_idx" ON "mail" ("created_at");
