-- People of a workspace: invitations by mail, the end of a workspace, when management keys were used, and an audit log
-- that nobody changes.

-- One row for each address that is invited; it is accepted once, or cancelled, or runs out.
CREATE TABLE "invitation" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "email" TEXT NOT NULL,
  "role" TEXT NOT NULL,
  -- The user who invites; null: an operator on the command line.
  "invited_by" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "sent_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- How often a mail was asked for.
  "mails" INTEGER NOT NULL DEFAULT 1,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "accepted_at" TIMESTAMPTZ(3),
  "cancelled_at" TIMESTAMPTZ(3)
);
CREATE INDEX "invitation_workspace_id_id_idx" ON "invitation" ("workspace_id", "id");
CREATE INDEX "invitation_invited_by_idx" ON "invitation" ("invited_by");
-- At most one that is open for each address.
CREATE UNIQUE INDEX "invitation_one_open" ON "invitation" ("workspace_id", "email")
  WHERE "accepted_at" IS NULL AND "cancelled_at" IS NULL;

-- The links in its mails, hashed; all of them stop when one is used.
CREATE TABLE "invitation_link" (
  "hash" BYTEA NOT NULL PRIMARY KEY,
  "invitation_id" UUID NOT NULL REFERENCES "invitation" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX "invitation_link_invitation_id_idx" ON "invitation_link" ("invitation_id");

-- A workspace that was deleted keeps its row: running calls are still charged to it, and its ledger is append-only.
ALTER TABLE "workspace" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);

ALTER TABLE "management_key" ADD COLUMN "last_used_at" TIMESTAMPTZ(3);

-- What was written down of a change stays as it was written; demo data alone goes with its workspace.
CREATE FUNCTION "guard_audit"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND is_demo(OLD.workspace_id) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only: nothing in it is changed or removed';
END
$$;
CREATE TRIGGER "audit_append_only" BEFORE UPDATE OR DELETE ON "audit"
  FOR EACH ROW EXECUTE FUNCTION guard_audit();
CREATE TRIGGER "audit_stays" BEFORE TRUNCATE ON "audit"
  FOR EACH STATEMENT EXECUTE FUNCTION guard_audit();
CREATE INDEX "audit_workspace_id_actor_idx" ON "audit" ("workspace_id", "actor");
