import type { AttemptRecord, CallRecord, SettledEntry } from '#lib/settlement/entry';

/** Longest text of a row: what clients and providers send is data of strangers. */
const mostText = 1000;
const mostInteger = 2_147_483_647;

/** A row of `call`, ready for JSON: column names, amounts as strings, texts that PostgreSQL takes. */
export function callRow({ call }: SettledEntry) {
  return {
    id: call.id,
    client_request_id: storable(call.clientRequestId),
    at: new Date(call.atMs).toISOString(),
    workspace_id: call.workspaceId,
    key_id: call.keyId,
    family: call.family,
    operation: call.operation,
    requested_model: storable(call.requestedModel),
    answering_model: call.answeringModel,
    provider: call.provider,
    status: integer(call.status),
    error_code: storable(call.errorCode),
    streamed: call.streamed,
    latency_ms: integer(call.latencyMs),
    first_byte_ms: call.firstByteMs === null ? null : integer(call.firstByteMs),
    overhead_ms: Number.isFinite(call.overheadMs) ? call.overheadMs : 0,
    attempt_count: call.attempts.length,
    end_reason: call.endReason,
    usage_source: call.usageSource,
    flags: call.flags.map(storable),
    usage: call.usage,
    lines: call.lines.map((line) => ({
      class: storable(line.class),
      quantity: line.quantity,
      unitPriceNano: `${line.unitPriceNano}`,
      cost: line.cost,
    })),
    cost_nano: `${call.costNano}`,
    hold_nano: `${call.holdNano}`,
    over_hold_nano: `${call.overHoldNano}`,
    price_version_id: call.priceVersionId,
    user_agent: storable(call.userAgent),
  };
}

/** A row of `attempt`, as `callRow`. */
export function attemptRow(call: CallRecord, attempt: AttemptRecord, position: number) {
  return {
    call_id: call.id,
    position,
    id: attempt.id,
    provider: attempt.provider,
    model: attempt.model,
    status: attempt.status,
    error: storable(attempt.error),
    start_ms: integer(attempt.startMs),
    duration_ms: integer(attempt.durationMs),
    upstream_request_id: storable(attempt.upstreamRequestId),
    possible_duplicate: attempt.possibleDuplicate,
  };
}

/** The model that a call counts under: slugs that are not in the catalogue would make rows without end. */
export function countedModel(call: CallRecord): string {
  if (call.answeringModel !== null) return call.answeringModel;
  return call.errorCode === 'model_not_allowed' ? '' : (storable(call.requestedModel) ?? '');
}

/** Text without what PostgreSQL refuses: NUL and halves of surrogate pairs. */
function storable(text: string | null): string | null {
  return text === null ? null : text.slice(0, mostText).replaceAll('\u0000', '\uFFFD').toWellFormed();
}

function integer(figure: number): number {
  return Number.isFinite(figure) ? Math.min(Math.max(Math.round(figure), 0), mostInteger) : 0;
}
