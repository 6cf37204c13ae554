-- Promo credit: money that usage spends first, and of which what is left goes when it expires.
CREATE TABLE "promo" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "ref" TEXT NOT NULL,
  "amount_nano" BIGINT NOT NULL CHECK ("amount_nano" > 0),
  "left_nano" BIGINT NOT NULL CHECK ("left_nano" >= 0 AND "left_nano" <= "amount_nano"),
  "granted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "recalled_at" TIMESTAMPTZ(3),
  "ended_at" TIMESTAMPTZ(3),
  "expired_nano" BIGINT NOT NULL DEFAULT 0 CHECK ("expired_nano" >= 0)
);
CREATE UNIQUE INDEX "promo_ref_key" ON "promo" ("ref");
CREATE INDEX "promo_workspace_id_granted_at_idx" ON "promo" ("workspace_id", "granted_at");

-- Up to where usage lines were counted against promo credits: all lines before "quarter", and of those from it on
-- "counted_nano". "since" and "base_nano" say the same of the first time; between the two, "used_nano" was used.
CREATE TABLE "promo_mark" (
  "workspace_id" UUID NOT NULL PRIMARY KEY,
  "since" TIMESTAMPTZ(3) NOT NULL,
  "base_nano" BIGINT NOT NULL,
  "quarter" TIMESTAMPTZ(3) NOT NULL,
  "counted_nano" BIGINT NOT NULL,
  "used_nano" BIGINT NOT NULL
);

-- The next expiry, so that nobody without a promo credit pays for asking.
ALTER TABLE "workspace" ADD COLUMN "promo_ends_at" TIMESTAMPTZ(3);
CREATE INDEX "workspace_promo_ends_at_idx" ON "workspace" ("promo_ends_at") WHERE "promo_ends_at" IS NOT NULL;

ALTER TABLE "ledger_line" DROP CONSTRAINT "ledger_line_kind";
ALTER TABLE "ledger_line" ADD CONSTRAINT "ledger_line_kind"
  CHECK ("kind" IN ('usage', 'top_up', 'promo', 'expiry', 'refund', 'dispute', 'adjustment'));
-- Lines of one kind stand far apart between those of usage.
CREATE INDEX "ledger_line_workspace_id_kind_at_idx" ON "ledger_line" ("workspace_id", "kind", "at") WHERE "kind" <> 'usage';

-- What was used since usage was last counted against promo credits.
CREATE FUNCTION "promo_used"("of" UUID) RETURNS BIGINT LANGUAGE sql STABLE AS $$
  SELECT (coalesce((SELECT -sum(l.amount_nano) FROM ledger_line l
      WHERE l.workspace_id = m.workspace_id AND l.kind = 'usage' AND l.at >= m.quarter), 0) - m.counted_nano)::bigint
  FROM promo_mark m WHERE m.workspace_id = $1
$$;

-- What is left of the promo credits that expire up to a moment. Those that expire first are spent first, so that all that
-- was used since the last count comes off them before any other.
CREATE FUNCTION "promo_left"("of" UUID, "until" TIMESTAMPTZ) RETURNS BIGINT LANGUAGE plpgsql STABLE AS $$
DECLARE
  standing BIGINT;
BEGIN
  SELECT sum(left_nano) INTO standing FROM promo
  WHERE workspace_id = $1 AND ended_at IS NULL AND expires_at <= $2;
  IF coalesce(standing, 0) = 0 THEN
    RETURN 0;
  END IF;
  RETURN greatest(0, standing - coalesce(promo_used($1), 0));
END
$$;

-- Counts what was used against the promo credits in force. Whoever calls it holds the row of the workspace since an
-- earlier statement, so that no usage is posted meanwhile. A line of the quarter before may still grow for a minute.
CREATE FUNCTION "count_promo_use"("of" UUID) RETURNS VOID LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  used BIGINT := coalesce(promo_used($1), 0);
  here TIMESTAMPTZ := ledger_quarter(now()) - INTERVAL '15 minutes';
  counted BIGINT;
BEGIN
  UPDATE promo p SET left_nano = greatest(0, least(p.left_nano, live.upto - used))
  FROM (SELECT id, sum(left_nano) OVER (ORDER BY expires_at, id) AS upto FROM promo
    WHERE workspace_id = $1 AND ended_at IS NULL) AS live
  WHERE p.id = live.id AND p.left_nano > 0 AND live.upto - used < p.left_nano;
  SELECT coalesce(-sum(amount_nano), 0) INTO counted FROM ledger_line
  WHERE workspace_id = $1 AND kind = 'usage' AND at >= here;
  INSERT INTO promo_mark AS m (workspace_id, since, base_nano, quarter, counted_nano, used_nano)
  VALUES ($1, here, counted, here, counted, 0)
  ON CONFLICT (workspace_id) DO UPDATE
    SET quarter = excluded.quarter, counted_nano = excluded.counted_nano, used_nano = m.used_nano + used;
END
$$;
