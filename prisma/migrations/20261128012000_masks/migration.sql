ALTER TABLE "workspace" ADD COLUMN "mask_keys" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "mask_mail" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "mask_cards" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "mask_phones" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "mask_patterns" TEXT;
