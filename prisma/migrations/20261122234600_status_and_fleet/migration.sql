-- What the status page shows of each day (UTC), by provider; '' is the gateway itself.
CREATE TABLE "status_day" (
  "day" TIMESTAMPTZ(3) NOT NULL,
  "provider" TEXT NOT NULL,
  "calls" BIGINT NOT NULL,
  "failed" BIGINT NOT NULL,
  -- Histogram of the time to the first byte.
  "first_byte" NUMERIC NOT NULL DEFAULT 0,
  -- Of the gateway alone: what it adds to a call, ms.
  "own_p50" REAL,
  "own_p95" REAL,
  PRIMARY KEY ("day", "provider")
);
INSERT INTO "fleet_duty" ("name") VALUES ('status'), ('verify');

-- A day of all workspaces is read from their quarters once it is over.
CREATE INDEX "usage_quarter_counted_quarter_idx" ON "usage_quarter_counted" ("quarter");

CREATE TABLE "incident" (
  "id" UUID NOT NULL PRIMARY KEY,
  "title" TEXT NOT NULL,
  "impact" TEXT NOT NULL,
  -- Ids of providers; "gateway" is the gateway itself.
  "affects" TEXT[],
  "state" TEXT NOT NULL,
  "started_at" TIMESTAMPTZ(3) NOT NULL,
  "resolved_at" TIMESTAMPTZ(3)
);
CREATE INDEX "incident_started_at_idx" ON "incident" ("started_at");

CREATE TABLE "incident_update" (
  "id" UUID NOT NULL PRIMARY KEY,
  "incident_id" UUID NOT NULL REFERENCES "incident" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "state" TEXT NOT NULL,
  "text" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX "incident_update_incident_id_idx" ON "incident_update" ("incident_id");

-- What operators tell everybody in the console.
CREATE TABLE "announcement" (
  "id" UUID NOT NULL PRIMARY KEY,
  "text" TEXT NOT NULL,
  "tone" TEXT NOT NULL,
  "from_at" TIMESTAMPTZ(3) NOT NULL,
  "until_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX "announcement_until_at_idx" ON "announcement" ("until_at");

-- The version of the program that a process runs.
ALTER TABLE "owner" ADD COLUMN "version" TEXT;

-- Charges that operators look at: few of many calls.
CREATE INDEX "call_flagged_idx" ON "call" ("id") WHERE "flags" && ARRAY['usage_anomaly', 'unpriced_tier'];
