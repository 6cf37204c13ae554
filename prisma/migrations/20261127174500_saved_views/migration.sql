-- Filters, order and columns of a page of the console, saved under a name.
CREATE TABLE "saved_view" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "owner_id" UUID,
    "page" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "shared" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "saved_view_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "saved_view_workspace_id_owner_id_name_key" ON "saved_view"("workspace_id", "owner_id", "name");
CREATE INDEX "saved_view_owner_id_idx" ON "saved_view"("owner_id");
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_workspace_id_fkey"
    FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_owner_id_fkey"
    FOREIGN KEY ("owner_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
