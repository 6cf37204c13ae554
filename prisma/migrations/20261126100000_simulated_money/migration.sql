-- Simulated money: the part of a balance that test payments credited, which pays the simulated provider alone.
ALTER TABLE "workspace" ADD COLUMN "simulated_nano" BIGINT NOT NULL DEFAULT 0 CHECK ("simulated_nano" >= 0);
-- How much of the amount of a line is simulated.
ALTER TABLE "ledger_line" ADD COLUMN "simulated_nano" BIGINT NOT NULL DEFAULT 0;
-- Of calls whose targets are all simulated; a lease that was granted out of simulated money too, for such calls alone.
ALTER TABLE "hold" ADD COLUMN "simulated" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "lease" ADD COLUMN "simulated" BOOLEAN NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION "guard_ledger_line"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.kind = 'usage' AND OLD.at = ledger_quarter(now())
      AND NEW.amount_nano <= OLD.amount_nano AND NEW.calls >= OLD.calls AND NEW.simulated_nano <= OLD.simulated_nano
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

-- Usage that simulated money paid spends no promo credit.
CREATE OR REPLACE FUNCTION "promo_used"("of" UUID) RETURNS BIGINT LANGUAGE sql STABLE AS $$
  SELECT (coalesce((SELECT -sum(l.amount_nano - l.simulated_nano) FROM ledger_line l
      WHERE l.workspace_id = m.workspace_id AND l.kind = 'usage' AND l.at >= m.quarter), 0) - m.counted_nano)::bigint
  FROM promo_mark m WHERE m.workspace_id = $1
$$;

CREATE OR REPLACE FUNCTION "count_promo_use"("of" UUID) RETURNS VOID LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  used BIGINT := coalesce(promo_used($1), 0);
  here TIMESTAMPTZ := ledger_quarter(now()) - INTERVAL '15 minutes';
  counted BIGINT;
BEGIN
  UPDATE promo p SET left_nano = greatest(0, least(p.left_nano, live.upto - used))
  FROM (SELECT id, sum(left_nano) OVER (ORDER BY expires_at, id) AS upto FROM promo
    WHERE workspace_id = $1 AND ended_at IS NULL) AS live
  WHERE p.id = live.id AND p.left_nano > 0 AND live.upto - used < p.left_nano;
  SELECT coalesce(-sum(amount_nano - simulated_nano), 0) INTO counted FROM ledger_line
  WHERE workspace_id = $1 AND kind = 'usage' AND at >= here;
  INSERT INTO promo_mark AS m (workspace_id, since, base_nano, quarter, counted_nano, used_nano)
  VALUES ($1, here, counted, here, counted, 0)
  ON CONFLICT (workspace_id) DO UPDATE
    SET quarter = excluded.quarter, counted_nano = excluded.counted_nano, used_nano = m.used_nano + used;
END
$$;

-- What test payments have credited so far, as far as the balance still has it: what was spent is taken to have been
-- other money. Lines are never changed, so that a line of its own marks it.
CREATE TEMP TABLE "simulated_so_far" ON COMMIT DROP AS
  SELECT w.id, least(w.balance_nano, paid.nano)::bigint AS nano
  FROM "workspace" w JOIN (
    SELECT t.workspace_id, sum(l.amount_nano) AS nano
    FROM "top_up" t JOIN "ledger_line" l ON l.workspace_id = t.workspace_id
      AND l.kind IN ('top_up', 'refund') AND split_part(l.ref, ':', 1) = t.payment_intent
    WHERE NOT t.livemode GROUP BY 1
  ) AS paid ON paid.workspace_id = w.id
  WHERE least(w.balance_nano, paid.nano) > 0;
UPDATE "workspace" w SET "simulated_nano" = s.nano FROM simulated_so_far s WHERE w.id = s.id;
INSERT INTO "ledger_line" ("id", "workspace_id", "kind", "ref", "amount_nano", "simulated_nano", "reason")
SELECT gen_random_uuid(), id, 'adjustment', 'simulated:' || id, 0, nano,
  'What test payments credited before is simulated money from here on' FROM simulated_so_far ORDER BY id;
