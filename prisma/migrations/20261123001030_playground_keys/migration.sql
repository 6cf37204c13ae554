-- The key of a session's playground; null: a key that people made. No reference: calls name the key after the session.
ALTER TABLE "api_key" ADD COLUMN "session_id" UUID;

CREATE UNIQUE INDEX "api_key_session_id_workspace_id_key" ON "api_key" ("session_id", "workspace_id");
