-- Offers whose streams are known to leave out their own end.
ALTER TABLE "offer" ADD COLUMN "stream_end" TEXT;
