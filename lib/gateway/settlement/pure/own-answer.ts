import type { CallRecord } from '#lib/gateway/settlement/pure/entry';

/**
 * Under this model the sums of usage keep calls that the gateway answers itself, apart from all others: no id of a
 * catalogue has parentheses (contract: call-log/own-answers).
 */
export const ownModel = '(gateway)';

/** What of a call says who answers it; `ownAnswerSql` says the same to the database. */
type Answered = Pick<CallRecord, 'family' | 'status' | 'endReason' | 'costNano'> & {
  readonly tried: number;
};

/**
 * Whether a call asks nothing of a provider and costs nothing: a list or an entry of models, also if it is refused, and
 * what the gateway answers without an attempt, such as an estimate of tokens.
 */
export function isOwnAnswer({ family, status, endReason, costNano, tried }: Answered): boolean {
  if (family === 'models') return true;
  return tried === 0 && status < 400 && costNano === 0n && endReason === 'completed';
}

/**
 * Whether a row of `call` is such a call, as an expression of SQL.
 * @param call "c."; "" for columns without a table.
 */
export function ownAnswerSql(call = ''): string {
  return `(${call}family = 'models' OR ${call}status < 400 AND ${call}cost_nano = 0
    AND ${call}end_reason = 'completed' AND json_array_length(${call}attempts) = 0)`;
}
