-- The ledger holds postings: one line of `usage` for each workspace and quarter of an hour of settlement, and one for
-- each event that moves money by itself. The rows of calls and jobs are the receipts of a usage line.

-- The quarter of an hour that a moment lies in. Everything that posts to the ledger or checks it asks this function.
CREATE FUNCTION "ledger_quarter"("moment" TIMESTAMPTZ) RETURNS TIMESTAMPTZ
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT date_bin(INTERVAL '15 minutes', moment, TIMESTAMPTZ '2000-01-01 00:00:00+00') $$;

-- A job is settled when its charge is posted, by the clock of the database.
UPDATE "job" j SET "settled_at" = l.at FROM "ledger_line" l WHERE l.kind = 'job' AND l.ref = j.call_id::text;

CREATE TEMP TABLE "lines_of_before" ON COMMIT DROP AS SELECT * FROM "ledger_line";

-- What calls and jobs paid. `gone`: retention has deleted the receipt. A job that was given up before it was charged
-- is no usage of its quarter.
CREATE TEMP TABLE "paid_before" ON COMMIT DROP AS
  SELECT l.workspace_id, l.key_id, l.call_id, l.at, ledger_quarter(l.at) AS quarter, -l.amount_nano AS spent_nano,
    c.id IS NULL AND j.call_id IS NULL AS gone
  FROM (SELECT *, ref::uuid AS call_id FROM lines_of_before WHERE kind IN ('call', 'job')) AS l
  LEFT JOIN "call" c ON l.kind = 'call' AND c.id = l.call_id
  LEFT JOIN "job" j ON l.kind = 'job' AND j.call_id = l.call_id
  WHERE j.lost_at IS NULL;

DROP TABLE "ledger_line";
DROP FUNCTION refuse_ledger_change();
DROP FUNCTION require_ledger_workspace();

CREATE TABLE "ledger_line" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "amount_nano" BIGINT NOT NULL,
  "key_id" UUID,
  "calls" INTEGER,
  "kind" TEXT NOT NULL,
  "ref" TEXT NOT NULL,
  "reason" TEXT,
  CONSTRAINT "ledger_line_kind" CHECK ("kind" IN ('usage', 'top_up', 'promo', 'refund', 'dispute', 'adjustment')),
  CONSTRAINT "ledger_line_usage" CHECK (CASE "kind" WHEN 'usage'
    THEN "calls" IS NOT NULL AND "calls" > 0 AND "amount_nano" < 0 AND "key_id" IS NULL ELSE "calls" IS NULL END)
) WITH (fillfactor = 80);

-- What the lines of a day (UTC) come to: a balance in the past needs no line of the days before.
CREATE TABLE "ledger_day" (
  "workspace_id" UUID NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "amount_nano" BIGINT NOT NULL,
  PRIMARY KEY ("workspace_id", "day")
) WITH (fillfactor = 80);

-- What retention has deleted, booked and compared with the ledger before it went: by workspace and day (UTC) on which
-- it went. `deleted_to`: calls of ids up to this one may be gone.
CREATE TABLE "ledger_check" (
  "workspace_id" UUID NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "checked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "from_at" TIMESTAMPTZ(3) NOT NULL,
  "to_at" TIMESTAMPTZ(3) NOT NULL,
  "deleted_to" UUID NOT NULL,
  "spent_nano" BIGINT NOT NULL,
  "calls" BIGINT NOT NULL,
  PRIMARY KEY ("workspace_id", "day")
);

-- The deleted part of a quarter of which other calls are still there. One that differs from its line stays for ever.
CREATE TABLE "open_quarter" (
  "workspace_id" UUID NOT NULL,
  "quarter" TIMESTAMPTZ(3) NOT NULL,
  "spent_nano" BIGINT NOT NULL,
  "calls" INTEGER NOT NULL,
  PRIMARY KEY ("workspace_id", "quarter")
);

-- What a key spent on calls and jobs that retention has deleted.
CREATE TABLE "closed_spend" (
  "key_id" UUID NOT NULL PRIMARY KEY,
  "spent_nano" BIGINT NOT NULL
);

INSERT INTO "ledger_line" ("id", "workspace_id", "at", "amount_nano", "calls", "kind", "ref")
SELECT gen_random_uuid(), workspace_id, quarter, -sum(spent_nano)::bigint, count(*), 'usage',
  to_char(quarter AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM paid_before GROUP BY workspace_id, quarter ORDER BY workspace_id, quarter;

INSERT INTO "ledger_line" ("id", "workspace_id", "at", "amount_nano", "key_id", "kind", "ref", "reason")
SELECT l.id, l.workspace_id, l.at, l.amount_nano, l.key_id,
  CASE l.kind WHEN 'topup' THEN 'top_up' WHEN 'refund' THEN 'refund' WHEN 'dispute' THEN 'dispute' ELSE 'adjustment' END,
  CASE WHEN l.kind = 'adjustment' AND j.cost_nano <> 0 THEN l.ref || ':retrieved' ELSE l.ref END,
  CASE l.kind WHEN 'job' THEN 'a job that was given up, and ended later' ELSE l.reason END
FROM lines_of_before l LEFT JOIN "job" j ON l.kind IN ('job', 'adjustment') AND j.call_id::text = l.ref AND j.lost_at IS NOT NULL
WHERE l.kind NOT IN ('call', 'job') OR j.call_id IS NOT NULL
ORDER BY l.workspace_id, l.at;

INSERT INTO "ledger_day" SELECT workspace_id, date_trunc('day', at, 'UTC'), sum(amount_nano) FROM "ledger_line" GROUP BY 1, 2;

-- The lines of calls that retention deleted before are their own witnesses.
INSERT INTO "ledger_check" ("workspace_id", "day", "from_at", "to_at", "deleted_to", "spent_nano", "calls")
SELECT workspace_id, date_trunc('day', now(), 'UTC'), min(at), max(at), max(call_id::text)::uuid,
  sum(spent_nano), count(*)
FROM paid_before WHERE gone GROUP BY workspace_id;
INSERT INTO "open_quarter"
SELECT workspace_id, quarter, sum(spent_nano) FILTER (WHERE gone), count(*) FILTER (WHERE gone)
FROM paid_before GROUP BY workspace_id, quarter HAVING bool_or(gone) AND NOT bool_and(gone);
INSERT INTO "closed_spend" SELECT key_id, sum(spent_nano) FROM paid_before WHERE gone AND key_id IS NOT NULL GROUP BY key_id;

CREATE INDEX "ledger_line_workspace_id_at_idx" ON "ledger_line" ("workspace_id", "at");
-- One line for each cause, and one of usage for each workspace and quarter.
CREATE UNIQUE INDEX "ledger_line_kind_ref_key" ON "ledger_line" ("kind", "ref") WHERE "kind" <> 'usage';
CREATE UNIQUE INDEX "ledger_line_usage_key" ON "ledger_line" ("workspace_id", "at") WHERE "kind" = 'usage';
ANALYZE "ledger_line";

-- A line is final: corrections are new lines. Only a usage line grows, while the transaction that adds to it began in
-- its quarter; one that waited for over a minute since the quarter ended has to begin anew.
CREATE FUNCTION "guard_ledger_line"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.kind = 'usage' AND OLD.at = ledger_quarter(now())
      AND NEW.amount_nano <= OLD.amount_nano AND NEW.calls >= OLD.calls
      AND (NEW.id, NEW.workspace_id, NEW.at, NEW.key_id, NEW.kind, NEW.ref, NEW.reason)
        IS NOT DISTINCT FROM (OLD.id, OLD.workspace_id, OLD.at, OLD.key_id, OLD.kind, OLD.ref, OLD.reason) THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'ledger lines are append-only: post a correcting line instead';
END
$$;
CREATE TRIGGER "ledger_line_append_only" BEFORE UPDATE OR DELETE ON "ledger_line"
  FOR EACH ROW EXECUTE FUNCTION guard_ledger_line();
CREATE TRIGGER "ledger_line_stays" BEFORE TRUNCATE ON "ledger_line"
  FOR EACH STATEMENT EXECUTE FUNCTION guard_ledger_line();

CREATE FUNCTION "guard_usage_line"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.at <> ledger_quarter(now()) THEN
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
CREATE TRIGGER "ledger_line_usage_in_time" BEFORE INSERT OR UPDATE ON "ledger_line"
  FOR EACH ROW WHEN (NEW.kind = 'usage') EXECUTE FUNCTION guard_usage_line();

-- Its workspace must exist, which is asked once a statement: a foreign key would look it up for every line.
CREATE FUNCTION "note_ledger_lines"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  named UUID[];
  known INTEGER;
BEGIN
  SELECT array_agg(DISTINCT workspace_id) INTO named FROM posted;
  IF named IS NULL THEN
    RETURN NULL;
  END IF;
  -- Held until the transaction ends, as a foreign key would.
  SELECT count(*) INTO known FROM (
    SELECT id FROM workspace WHERE id = ANY (named) ORDER BY id FOR KEY SHARE) AS held;
  IF known < cardinality(named) THEN
    RAISE EXCEPTION 'a ledger line names a workspace that does not exist'
      USING ERRCODE = 'foreign_key_violation', TABLE = 'ledger_line', CONSTRAINT = 'ledger_line_workspace';
  END IF;
  INSERT INTO ledger_day (workspace_id, day, amount_nano)
  SELECT workspace_id, date_trunc('day', at, 'UTC'), sum(amount_nano) FROM posted GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (workspace_id, day) DO UPDATE SET amount_nano = ledger_day.amount_nano + excluded.amount_nano;
  RETURN NULL;
END
$$;
CREATE TRIGGER "ledger_line_posted" AFTER INSERT ON "ledger_line"
  REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION note_ledger_lines();

CREATE FUNCTION "note_ledger_growth"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE ledger_day d SET amount_nano = d.amount_nano + grown.nano FROM (
    SELECT n.workspace_id, date_trunc('day', n.at, 'UTC') AS day, sum(n.amount_nano - o.amount_nano) AS nano
    FROM line_after n JOIN line_before o USING (id) GROUP BY 1, 2) AS grown
  WHERE d.workspace_id = grown.workspace_id AND d.day = grown.day;
  RETURN NULL;
END
$$;
CREATE TRIGGER "ledger_line_grown" AFTER UPDATE ON "ledger_line"
  REFERENCING OLD TABLE AS line_before NEW TABLE AS line_after
  FOR EACH STATEMENT EXECUTE FUNCTION note_ledger_growth();
