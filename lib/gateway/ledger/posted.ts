/**
 * SQL: what the ledger posted for calls and jobs of a workspace in [from, to), nano-dollars: its usage lines and the
 * adjustments of calls, which have a key (contract: money/budget).
 * @param workspace, from, to SQL expressions.
 */
export function postedOfCalls(workspace: string, from: string, to: string): string {
  return `(SELECT coalesce(-sum(amount_nano), 0) FROM ledger_line
    WHERE workspace_id = ${workspace} AND at >= ${from} AND at < ${to}
      AND (kind = 'usage' OR kind = 'adjustment' AND key_id IS NOT NULL))`;
}
