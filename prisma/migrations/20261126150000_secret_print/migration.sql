-- A print of each secret that the database is used with: a process with another one does not start.
CREATE TABLE "secret_print" (
  "name" TEXT NOT NULL PRIMARY KEY,
  "print" TEXT NOT NULL,
  "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
