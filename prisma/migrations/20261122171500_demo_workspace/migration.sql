-- A workspace of made-up calls. Its money is nobody's: its lines may be written for the past and deleted, and no secret
-- opens its keys. What a workspace is stays what it was made as, and there is at most one of them.
ALTER TABLE "workspace" ADD COLUMN "demo" BOOLEAN NOT NULL DEFAULT false;
CREATE UNIQUE INDEX "workspace_one_demo" ON "workspace" ("demo") WHERE "demo";

CREATE FUNCTION "keep_demo"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a workspace is made with demo data or for real calls, and stays so';
END
$$;
CREATE TRIGGER "workspace_keeps_demo" BEFORE UPDATE OF "demo" ON "workspace"
  FOR EACH ROW WHEN (OLD."demo" <> NEW."demo") EXECUTE FUNCTION keep_demo();

CREATE FUNCTION "is_demo"("workspace" UUID) RETURNS BOOLEAN LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT EXISTS (SELECT FROM workspace w WHERE w.id = $1 AND w.demo) $$;

-- As before, but for lines of the demo workspace, which may be deleted with it. They are never changed either.
CREATE OR REPLACE FUNCTION "guard_ledger_line"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.kind = 'usage' AND OLD.at = ledger_quarter(now())
      AND NEW.amount_nano <= OLD.amount_nano AND NEW.calls >= OLD.calls
      AND (NEW.id, NEW.workspace_id, NEW.at, NEW.key_id, NEW.kind, NEW.ref, NEW.reason)
        IS NOT DISTINCT FROM (OLD.id, OLD.workspace_id, OLD.at, OLD.key_id, OLD.kind, OLD.ref, OLD.reason) THEN
      RETURN NEW;
    END IF;
  ELSIF TG_OP = 'DELETE' AND is_demo(OLD.workspace_id) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'ledger lines are append-only: post a correcting line instead';
END
$$;

-- As before, but for lines of the demo workspace, which stand in quarters of the past.
CREATE OR REPLACE FUNCTION "guard_usage_line"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.at <> ledger_quarter(now()) AND NOT (TG_OP = 'INSERT' AND is_demo(NEW.workspace_id)) THEN
    RAISE EXCEPTION 'a usage line is made in its own quarter of an hour: this one begins at %', ledger_quarter(now());
  END IF;
  -- Retried by whoever posts: no error of what the line holds.
  IF ledger_quarter(clock_timestamp() - INTERVAL '1 minute') > ledger_quarter(now()) THEN
    RAISE EXCEPTION 'this transaction began in a quarter of an hour that ended over a minute ago: repeat it'
      USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  RETURN NEW;
END
$$;

-- The hash of a secret has 32 bytes. Keys of the demo workspace have other ones, so that none of them ever admits a call.
CREATE FUNCTION "refuse_demo_secret"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (length(NEW.hash) = 32 OR NEW.old_hash IS NOT NULL) AND is_demo(NEW.workspace_id) THEN
    RAISE EXCEPTION 'keys of the demo workspace have no secret';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER "api_key_of_demo" BEFORE INSERT OR UPDATE OF "hash", "old_hash", "workspace_id" ON "api_key"
  FOR EACH ROW EXECUTE FUNCTION refuse_demo_secret();
