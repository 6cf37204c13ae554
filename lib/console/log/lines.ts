import { type CsvCell, csvLine } from '#lib/console/csv/line';
import { tagPairsOf } from '#lib/console/show/call-rows';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { isoInZone } from '#lib/core/charts/zone';

/** Columns of a file of calls; their names and order must not change. */
const columns: readonly (readonly [name: string, cell: (call: CallDetail) => CsvCell])[] = [
  ['request_id', (call) => call.id],
  ['client_request_id', (call) => call.clientRequestId],
  ['status', (call) => call.status],
  ['error_code', (call) => call.errorCode],
  ['end_reason', (call) => call.endReason],
  ['requested_model', (call) => call.requestedModel],
  ['answering_model', (call) => call.answeringModel],
  ['provider', (call) => call.provider],
  ['attempts', (call) => call.attempts.length],
  ['family', (call) => call.family],
  ['operation', (call) => call.operation],
  ['streamed', (call) => call.streamed],
  ['key_id', (call) => call.key],
  ['key_name', (call) => call.keyName],
  ['input_tokens', (call) => call.usage.input],
  ['cached_input_tokens', (call) => call.usage.cachedInput],
  ['cache_write_5m_tokens', (call) => call.usage.cacheWrite5m],
  ['cache_write_1h_tokens', (call) => call.usage.cacheWrite1h],
  ['output_tokens', (call) => call.usage.output],
  ['reasoning_tokens', (call) => call.usage.reasoning],
  ['usage_source', (call) => call.usageSource],
  ['cost_usd', (call) => call.cost],
  ['latency_ms', (call) => call.latencyMs],
  ['first_byte_ms', (call) => call.firstByteMs],
  ['upstream_request_ids', (call) => call.attempts.flatMap((one) => one.upstreamRequestId ?? []).join(' ')],
  ['feedback_score', (call) => call.feedback?.score ?? null],
  ['feedback_label', (call) => call.feedback?.label ?? null],
  ['end_user', (call) => call.endUser],
  ['tags', (call) => tagPairsOf(call).join(' ')],
];

export const logCsvHead = csvLine(['time', 'time_utc', ...columns.map(([name]) => name)]);

/** A call as a CSV line, with its time in the workspace's zone (with offset) and in UTC. @param zone IANA. */
export function logCsvLine(call: CallDetail, zone: string): string {
  const times = [isoInZone(Date.parse(call.at), zone), call.at];
  return csvLine([...times, ...columns.map(([, cell]) => cell(call))]);
}
