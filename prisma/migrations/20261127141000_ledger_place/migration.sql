-- Where a line stands in a list of the ledger: at its time, but usage after all other lines of its quarter of an hour.
-- A line of usage has the time at which its quarter begins; a top-up within the quarter would stand after the calls that
-- it paid, and the balance between them would be below zero though it never was.
CREATE FUNCTION "ledger_place"("at" TIMESTAMPTZ, "kind" TEXT) RETURNS TIMESTAMPTZ
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE "kind" WHEN 'usage'
    THEN ("at" AT TIME ZONE 'UTC' + INTERVAL '14 minutes 59.999 seconds') AT TIME ZONE 'UTC' ELSE "at" END;

CREATE INDEX "ledger_line_place_idx" ON "ledger_line" ("workspace_id", ledger_place("at", "kind"), "id");
