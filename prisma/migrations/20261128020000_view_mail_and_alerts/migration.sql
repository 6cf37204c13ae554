ALTER TABLE "saved_view" ADD COLUMN "alert_over" INTEGER,
  ADD COLUMN "alert_window" TEXT NOT NULL DEFAULT 'hour',
  ADD COLUMN "alert_calls" INTEGER,
  ADD COLUMN "alert_next_at" TIMESTAMPTZ(3);

CREATE INDEX "saved_view_alerts" ON "saved_view" ("alert_next_at") WHERE "alert_over" IS NOT NULL;

CREATE TABLE "view_subscription" (
    "view_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "week" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "view_subscription_pkey" PRIMARY KEY ("view_id", "user_id"),
    CONSTRAINT "view_subscription_view_id_fkey" FOREIGN KEY ("view_id") REFERENCES "saved_view" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "view_subscription_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "view_subscription_user_id_idx" ON "view_subscription" ("user_id");

-- One process at a time counts views and writes their mails.
INSERT INTO "fleet_duty" ("name") VALUES ('views');
