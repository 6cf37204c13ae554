-- What a line of the ledger must be is the same as before; it is checked once a statement, not once a line.

-- A call's line carries the call's id, so that the primary key lets it be posted once: an entry of its own
-- among the refs would say that twice, for every call.
ALTER TABLE "ledger_line" ADD CONSTRAINT "ledger_line_call_ref" CHECK ("kind" <> 'call' OR "ref" = "id"::text);
DROP INDEX "ledger_line_kind_ref_key";
CREATE UNIQUE INDEX "ledger_line_kind_ref_key" ON "ledger_line" ("kind", "ref") WHERE "kind" <> 'call';

-- A foreign key looks its workspace up for every line; a settlement posts thousands for a few workspaces.
ALTER TABLE "ledger_line" DROP CONSTRAINT "ledger_line_workspace_id_fkey";

CREATE FUNCTION require_ledger_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  named UUID[];
  known INTEGER;
BEGIN
  SELECT array_agg(DISTINCT workspace_id) INTO named FROM posted;
  -- Held until the transaction ends, as a foreign key would.
  SELECT count(*) INTO known FROM (
    SELECT id FROM workspace WHERE id = ANY (named) ORDER BY id FOR KEY SHARE) AS held;
  IF known < cardinality(named) THEN
    RAISE EXCEPTION 'a ledger line names a workspace that does not exist'
      USING ERRCODE = 'foreign_key_violation', TABLE = 'ledger_line', CONSTRAINT = 'ledger_line_workspace';
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER "ledger_line_workspace" AFTER INSERT ON "ledger_line"
  REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION require_ledger_workspace();

CREATE FUNCTION refuse_ledger_loss() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM ledger_line WHERE workspace_id = OLD.id) THEN
    RAISE EXCEPTION 'a workspace with ledger lines stays: its books are final'
      USING ERRCODE = 'foreign_key_violation', TABLE = 'ledger_line', CONSTRAINT = 'ledger_line_workspace';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END
$$;
CREATE TRIGGER "workspace_ledger_stays" BEFORE DELETE ON "workspace"
  FOR EACH ROW EXECUTE FUNCTION refuse_ledger_loss();
CREATE TRIGGER "workspace_ledger_keeps_id" BEFORE UPDATE OF "id" ON "workspace"
  FOR EACH ROW WHEN (OLD.id <> NEW.id) EXECUTE FUNCTION refuse_ledger_loss();
