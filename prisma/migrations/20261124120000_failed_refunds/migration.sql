-- What of the refunds of a payment failed: its money never arrived, and is not in "refunded_cents" any more.
ALTER TABLE "top_up" ADD COLUMN "failed_refund_cents" INTEGER NOT NULL DEFAULT 0;
