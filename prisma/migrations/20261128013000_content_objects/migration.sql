-- Content whose sealed bytes are in an object store has none here.
ALTER TABLE "call_content" ALTER COLUMN "sealed" DROP NOT NULL;

-- Written before its object, deleted after it: no object is without a row.
CREATE TABLE "content_object" (
  "name" TEXT NOT NULL,
  "call_id" UUID,
  "delete_after" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "content_object_pkey" PRIMARY KEY ("name"),
  CONSTRAINT "content_object_call_id_fkey" FOREIGN KEY ("call_id") REFERENCES "call_content"("call_id")
    ON DELETE SET NULL ON UPDATE CASCADE
);

CREATE UNIQUE INDEX "content_object_call_id_key" ON "content_object"("call_id");
CREATE INDEX "content_object_unused_idx" ON "content_object"("delete_after") WHERE "call_id" IS NULL;
