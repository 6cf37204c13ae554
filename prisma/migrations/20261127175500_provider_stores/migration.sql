-- What requests that name no model may have a provider store ("conversations"). Null, as of every row so far: nothing.
ALTER TABLE "provider" ADD COLUMN "stores" TEXT[];
