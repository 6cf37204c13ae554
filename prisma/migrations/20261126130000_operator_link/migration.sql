-- Links that make the first operator: hashed, and gone once there is one.
CREATE TABLE "operator_link" (
  "id" UUID NOT NULL PRIMARY KEY,
  "hash" BYTEA NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL
);
CREATE UNIQUE INDEX "operator_link_hash_key" ON "operator_link" ("hash");
