-- Model Gateway, first schema. Money is BIGINT nano-dollars, times are timestamptz.

CREATE TABLE "user" (
  "id" UUID NOT NULL PRIMARY KEY,
  "email" TEXT NOT NULL,
  "name" TEXT,
  "password_hash" TEXT,
  "session_version" INTEGER NOT NULL DEFAULT 1,
  "operator" BOOLEAN NOT NULL DEFAULT false,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX "user_email_key" ON "user" ("email");

CREATE TABLE "workspace" (
  "id" UUID NOT NULL PRIMARY KEY,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "time_zone" TEXT NOT NULL DEFAULT 'UTC',
  "balance_nano" BIGINT NOT NULL DEFAULT 0,
  "credit_nano" BIGINT NOT NULL DEFAULT 0,
  "strict" BOOLEAN NOT NULL DEFAULT false,
  "rpm" INTEGER,
  "tpm" INTEGER,
  "concurrency" INTEGER,
  "suspended_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX "workspace_slug_key" ON "workspace" ("slug");

CREATE TABLE "member" (
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "user_id" UUID NOT NULL REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "role" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("workspace_id", "user_id")
);
CREATE INDEX "member_user_id_idx" ON "member" ("user_id");

CREATE TABLE "api_key" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "name" TEXT NOT NULL,
  "hash" BYTEA NOT NULL,
  "display_start" TEXT NOT NULL,
  "display_end" TEXT NOT NULL,
  "old_hash" BYTEA,
  "old_hash_until" TIMESTAMPTZ(3),
  "status" TEXT NOT NULL DEFAULT 'active',
  "quota_exhausted" BOOLEAN NOT NULL DEFAULT false,
  "models" TEXT[],
  "all_models" BOOLEAN NOT NULL DEFAULT true,
  "max_output_tokens" INTEGER,
  "daily_cap_nano" BIGINT,
  "d7_cap_nano" BIGINT,
  "d30_cap_nano" BIGINT,
  "quota_nano" BIGINT,
  "spent_nano" BIGINT NOT NULL DEFAULT 0,
  "rpm" INTEGER,
  "tpm" INTEGER,
  "concurrency" INTEGER,
  "expires_at" TIMESTAMPTZ(3),
  "created_by" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "last_used_at" TIMESTAMPTZ(3)
);
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key" ("hash");
CREATE UNIQUE INDEX "api_key_old_hash_key" ON "api_key" ("old_hash");
CREATE INDEX "api_key_workspace_id_created_at_idx" ON "api_key" ("workspace_id", "created_at");

CREATE TABLE "provider" (
  "id" TEXT NOT NULL PRIMARY KEY,
  "name" TEXT NOT NULL,
  "families" JSONB NOT NULL,
  "credential" JSONB,
  "on_disconnect" TEXT NOT NULL DEFAULT 'abort',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE "model" (
  "id" TEXT NOT NULL PRIMARY KEY,
  "name" TEXT NOT NULL,
  "context_tokens" INTEGER NOT NULL,
  "max_output_tokens" INTEGER NOT NULL,
  "input" TEXT[],
  "output" TEXT[],
  "released" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE "offer" (
  "id" UUID NOT NULL PRIMARY KEY,
  "model_id" TEXT NOT NULL REFERENCES "model" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "provider_id" TEXT NOT NULL REFERENCES "provider" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "upstream_model" TEXT NOT NULL,
  "families" TEXT[],
  "position" INTEGER NOT NULL DEFAULT 0,
  "output_budget_field" TEXT,
  "stream_usage" TEXT,
  "deny_betas" TEXT[],
  "withdrawn_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX "offer_model_id_provider_id_key" ON "offer" ("model_id", "provider_id");

CREATE TABLE "price_version" (
  "id" UUID NOT NULL PRIMARY KEY,
  "offer_id" UUID NOT NULL REFERENCES "offer" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "price" JSONB NOT NULL,
  "effective_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX "price_version_offer_id_effective_at_idx" ON "price_version" ("offer_id", "effective_at");

CREATE TABLE "policy" (
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "model_id" TEXT NOT NULL DEFAULT '',
  "version" INTEGER NOT NULL,
  "policy" JSONB NOT NULL,
  "created_by" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("workspace_id", "model_id", "version")
);

-- Partitioned by range of the id: a UUIDv7 starts with its time, so a week is an id range, the
-- primary key is the id alone, and a look-up by request id touches one partition. Partitions are
-- made ahead by the gateway; what fits none (a clock far off) goes to the default one.
CREATE TABLE "call" (
  "id" UUID NOT NULL PRIMARY KEY,
  "client_request_id" TEXT,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "workspace_id" UUID NOT NULL,
  "key_id" UUID NOT NULL,
  "family" TEXT NOT NULL,
  "operation" TEXT NOT NULL,
  "requested_model" TEXT,
  "answering_model" TEXT,
  "provider" TEXT,
  "status" INTEGER NOT NULL,
  "error_code" TEXT,
  "streamed" BOOLEAN NOT NULL,
  "latency_ms" INTEGER NOT NULL,
  "first_byte_ms" INTEGER,
  "overhead_ms" DOUBLE PRECISION NOT NULL,
  "attempt_count" INTEGER NOT NULL,
  "end_reason" TEXT NOT NULL,
  "usage_source" TEXT NOT NULL,
  "flags" TEXT[],
  "usage" JSONB NOT NULL,
  "lines" JSONB NOT NULL,
  "cost_nano" BIGINT NOT NULL,
  "hold_nano" BIGINT NOT NULL,
  "over_hold_nano" BIGINT NOT NULL,
  "price_version_id" UUID,
  "user_agent" TEXT
) PARTITION BY RANGE ("id");
CREATE INDEX "call_workspace_id_id_idx" ON "call" ("workspace_id", "id");
CREATE INDEX "call_key_id_id_idx" ON "call" ("key_id", "id");
CREATE TABLE "call_default" PARTITION OF "call" DEFAULT;

CREATE TABLE "attempt" (
  "call_id" UUID NOT NULL,
  "position" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "provider" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "status" INTEGER,
  "error" TEXT,
  "start_ms" INTEGER NOT NULL,
  "duration_ms" INTEGER NOT NULL,
  "upstream_request_id" TEXT,
  "possible_duplicate" BOOLEAN NOT NULL DEFAULT false,
  PRIMARY KEY ("call_id", "position")
) PARTITION BY RANGE ("call_id");
CREATE TABLE "attempt_default" PARTITION OF "attempt" DEFAULT;

CREATE TABLE "ledger_line" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "kind" TEXT NOT NULL,
  "ref" TEXT NOT NULL,
  "amount_nano" BIGINT NOT NULL,
  "reason" TEXT,
  "key_id" UUID,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX "ledger_line_kind_ref_key" ON "ledger_line" ("kind", "ref");
CREATE INDEX "ledger_line_workspace_id_at_idx" ON "ledger_line" ("workspace_id", "at");

-- A posted line is final: corrections are new lines.
CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'ledger lines are append-only: post a correcting line instead';
END
$$;
CREATE TRIGGER "ledger_line_append_only" BEFORE UPDATE OR DELETE ON "ledger_line"
  FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

CREATE TABLE "owner" (
  "id" UUID NOT NULL PRIMARY KEY,
  "machine" TEXT NOT NULL,
  "pid" INTEGER NOT NULL,
  "epoch" INTEGER NOT NULL DEFAULT 1,
  "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE TABLE "lease" (
  "owner_id" UUID NOT NULL REFERENCES "owner" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "kind" TEXT NOT NULL,
  "subject_id" UUID NOT NULL,
  "granted_nano" BIGINT NOT NULL,
  "held_nano" BIGINT NOT NULL DEFAULT 0,
  "recalled_at" TIMESTAMPTZ(3),
  PRIMARY KEY ("owner_id", "kind", "subject_id"),
  CHECK ("granted_nano" >= 0)
);
CREATE INDEX "lease_kind_subject_id_idx" ON "lease" ("kind", "subject_id");

CREATE TABLE "hold" (
  "call_id" UUID NOT NULL PRIMARY KEY,
  "owner_id" UUID,
  "workspace_id" UUID NOT NULL,
  "key_id" UUID NOT NULL,
  "amount_nano" BIGINT NOT NULL CHECK ("amount_nano" >= 0),
  "admitted_at" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "hold_workspace_id_idx" ON "hold" ("workspace_id");
CREATE INDEX "hold_key_id_idx" ON "hold" ("key_id");
CREATE INDEX "hold_owner_id_idx" ON "hold" ("owner_id");

CREATE TABLE "change" (
  "position" BIGINT NOT NULL PRIMARY KEY,
  "kind" TEXT NOT NULL,
  "subject" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX "change_at_idx" ON "change" ("at");
CREATE TABLE "change_head" (
  "one" INTEGER NOT NULL DEFAULT 1 PRIMARY KEY CHECK ("one" = 1),
  "position" BIGINT NOT NULL DEFAULT 0
);
INSERT INTO "change_head" ("one", "position") VALUES (1, 0);

CREATE TABLE "audit" (
  "id" UUID NOT NULL PRIMARY KEY,
  "workspace_id" UUID,
  "actor" TEXT NOT NULL,
  "action" TEXT NOT NULL,
  "subject" TEXT NOT NULL,
  "detail" JSONB NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX "audit_workspace_id_at_idx" ON "audit" ("workspace_id", "at");

CREATE TABLE "spend_minute" (
  "key_id" UUID NOT NULL,
  "minute" TIMESTAMPTZ(3) NOT NULL,
  "spent_nano" BIGINT NOT NULL,
  PRIMARY KEY ("key_id", "minute")
);

CREATE TABLE "usage_hour" (
  "workspace_id" UUID NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "key_id" UUID NOT NULL,
  "model" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "calls" INTEGER NOT NULL,
  "errors" INTEGER NOT NULL,
  "input_tokens" BIGINT NOT NULL,
  "cached_tokens" BIGINT NOT NULL,
  "output_tokens" BIGINT NOT NULL,
  "cost_nano" BIGINT NOT NULL,
  PRIMARY KEY ("workspace_id", "hour", "key_id", "model", "provider")
);
