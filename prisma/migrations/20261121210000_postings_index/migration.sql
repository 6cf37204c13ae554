-- What is looked up by time in a ledger are postings: credits, top-ups, refunds, jobs. Calls have their log, and
-- each would pay for an entry that nobody reads.
DROP INDEX "ledger_line_workspace_id_at_idx";
CREATE INDEX "ledger_line_workspace_id_at_idx" ON "ledger_line" ("workspace_id", "at") WHERE "kind" <> 'call';
