import type { CallRecord } from '#lib/gateway/settlement/pure/entry';

/**
 * Whose fault an error was (contract: call-log/error-classes). Every call has one class at most.
 * - `client`: a request that cannot be served as it is, refused here or by the provider.
 * - `limit`: refused by a rate limit, a cap, a quota or the balance.
 * - `provider`: an error of the provider, a limit of its own or a credential of ours among them, or no answer.
 * - `timeout`: a time limit ran out, before or during the answer.
 * - `broken`: an answer that broke off after it began, or a process that ended in the middle.
 * - `gateway`: refused because this gateway could not serve any call.
 * - `other`: counted before there were classes.
 */
export const errorClasses = ['client', 'limit', 'provider', 'timeout', 'broken', 'gateway', 'other'] as const;
export type ErrorClass = (typeof errorClasses)[number];

/** 4xx answers of a provider that are not the request's fault: its own trouble, or the operator's account. */
const operators: ReadonlySet<number> = new Set([401, 402, 403, 408, 425, 429]);

/** The class of an ended call; null: it was no error. `errorClassSql` says the same to the database. */
export function errorClassOf({
  status,
  endReason,
}: Pick<CallRecord, 'status' | 'endReason'>): ErrorClass | null {
  if (endReason === 'interrupted') return 'broken';
  if (endReason === 'timeout') return 'timeout';
  if (endReason === 'upstream_error') return status >= 400 ? 'provider' : 'broken';
  if (status < 400) return null;
  if (endReason !== 'refused') return status >= 500 || operators.has(status) ? 'provider' : 'client';
  if (status === 402 || status === 429) return 'limit';
  return status >= 500 ? 'gateway' : 'client';
}

/**
 * The class of a row of `call` as an expression of SQL; NULL for one that is no error.
 * @param call "c."; "" for columns without a table.
 */
export function errorClassSql(call = ''): string {
  const [status, reason] = [`${call}status`, `${call}end_reason`];
  return `CASE
  WHEN ${reason} = 'interrupted' THEN 'broken'
  WHEN ${reason} = 'timeout' THEN 'timeout'
  WHEN ${reason} = 'upstream_error' THEN CASE WHEN ${status} >= 400 THEN 'provider' ELSE 'broken' END
  WHEN ${status} < 400 THEN NULL
  WHEN ${reason} <> 'refused' THEN
    CASE WHEN ${status} >= 500 OR ${status} IN (${[...operators].join(', ')}) THEN 'provider' ELSE 'client' END
  WHEN ${status} IN (402, 429) THEN 'limit'
  WHEN ${status} >= 500 THEN 'gateway' ELSE 'client' END`;
}
