-- Sessions that were signed out before their time. A session is a signed cookie: without this, a copy of the
-- cookie would open the console until the week is over.
CREATE TABLE "ended_session" (
  "id" UUID NOT NULL PRIMARY KEY,
  "expires_at" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "ended_session_expires_at_idx" ON "ended_session" ("expires_at");
