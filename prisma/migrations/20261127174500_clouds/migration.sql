-- How credentials of a cloud become what is sent, and where a family's requests have another form.
ALTER TABLE "provider" ADD COLUMN "auth" JSONB, ADD COLUMN "variants" JSONB NOT NULL DEFAULT '{}';
