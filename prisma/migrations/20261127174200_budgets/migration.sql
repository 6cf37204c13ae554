-- What a workspace may spend in a calendar month, and whether calls are refused when it is used up.
ALTER TABLE "workspace" ADD COLUMN "budget_nano" BIGINT,
  ADD COLUMN "budget_mode" TEXT NOT NULL DEFAULT 'warning' CHECK ("budget_mode" IN ('warning', 'hard'));
