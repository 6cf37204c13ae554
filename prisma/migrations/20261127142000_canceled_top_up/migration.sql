-- When a user gave up a top-up that was not paid; its payment page is closed at Stripe soon after.
ALTER TABLE "top_up" ADD COLUMN "canceled_at" TIMESTAMPTZ(3);
