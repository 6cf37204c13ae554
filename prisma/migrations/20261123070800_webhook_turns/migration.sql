-- Which webhooks are being tried now: whoever sends the next event leaves out workspaces that have their share.
CREATE INDEX "webhook_delivery_taken_until_idx" ON "webhook_delivery"("taken_until");
