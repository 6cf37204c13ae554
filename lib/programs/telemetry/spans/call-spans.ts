import { endUserName } from '#lib/core/facts/tags';
import type { AttemptRecord, CallRecord } from '#lib/gateway/settlement/pure/entry';
import {
  operationAttributes,
  providerName,
  spanName,
  tokenAttributes,
  whole,
} from '#lib/programs/telemetry/spans/gen-ai';
import {
  type Attribute,
  addressKey,
  present,
  type ServerAddresses,
  type Span,
  spanIdOf,
  spanMarks,
  traceIdOf,
} from '#lib/programs/telemetry/spans/span';
import { costAttributes, lineAttributes, usageAttributes } from '#lib/programs/telemetry/spans/usd';

/**
 * The span of a call and a span for each of its attempts (docs/guide/telemetry.md). The same record gives the same ids
 * each time, so that repeats can be recognized. Only the call has tokens and cost: a sum over all spans counts them
 * once.
 * @returns none for an id that is not a UUID.
 */
export function spansOf(call: CallRecord, addresses: ServerAddresses): Span[] {
  const traceId = traceIdOf(call.id);
  if (!traceId) return [];
  const spanId = spanIdOf(call.id, spanMarks.call);
  const root: Span = {
    traceId,
    spanId,
    parentSpanId: null,
    name: spanName(call.operation, call.answeringModel),
    kind: 'server',
    startMs: call.atMs,
    endMs: call.atMs + call.latencyMs,
    attributes: callAttributes(call),
    failed: errorOf(call) !== null,
  };
  const attempts = call.attempts.map(
    (attempt, position): Span => ({
      traceId,
      spanId: spanIdOf(call.id, spanMarks.attempt + position),
      parentSpanId: spanId,
      name: spanName(call.operation, attempt.model),
      kind: 'client',
      startMs: call.atMs + attempt.startMs,
      endMs: call.atMs + attempt.startMs + attempt.durationMs,
      attributes: attemptAttributes(call, attempt, position, addresses),
      failed: errorOfAttempt(attempt) !== null,
    }),
  );
  return [root, ...attempts];
}

function callAttributes(call: CallRecord): Attribute[] {
  const { provider, firstByteMs } = call;
  return present([
    ['model_gateway.call.id', call.id],
    ['model_gateway.workspace.id', call.workspaceId],
    ['model_gateway.key.id', call.keyId],
    ['model_gateway.family', call.family],
    ['model_gateway.operation', call.operation],
    ['model_gateway.end_reason', call.endReason],
    ['model_gateway.usage_source', call.usageSource],
    ['model_gateway.latency_ms', whole(call.latencyMs)],
    ['model_gateway.overhead_ms', call.overheadMs],
    ['model_gateway.attempts', whole(call.attempts.length)],
    ['model_gateway.hold.nano_usd', call.holdNano],
    ['model_gateway.over_hold.nano_usd', call.costNano > call.holdNano ? call.costNano - call.holdNano : 0n],
    ...costAttributes(call.costNano),
    ...lineAttributes(call.lines),
    ...usageAttributes(call.usage),
    ...operationAttributes(call.operation),
    ['gen_ai.request.model', call.requestedModel],
    ['gen_ai.response.model', call.answeringModel],
    ['gen_ai.provider.name', provider && providerName(provider)],
    ['model_gateway.provider', provider],
    ['model_gateway.client_request_id', call.clientRequestId],
    ['model_gateway.price_version.id', call.priceVersionId],
    ['model_gateway.error_code', call.errorCode],
    ['user_agent.original', call.userAgent],
    ...tagAttributes(call),
    ['error.type', errorOf(call)],
    ['http.response.status_code', call.status > 0 ? whole(call.status) : null],
    ['model_gateway.flags', call.flags.length > 0 ? call.flags : null],
    ...(call.usageSource === 'none' ? [] : tokenAttributes(call.usage)),
    ['gen_ai.request.stream', call.streamed || null],
    ['model_gateway.first_byte_ms', firstByteMs === null ? null : whole(firstByteMs)],
    [
      'gen_ai.response.time_to_first_chunk',
      call.streamed && firstByteMs !== null ? firstByteMs / 1000 : null,
    ],
  ]);
}

function tagAttributes({ tags = [] }: CallRecord): Attribute[] {
  return tags.map(({ name, value }) =>
    name === endUserName ? ['enduser.id', value] : [`model_gateway.tag.${name}`, value],
  );
}

function attemptAttributes(
  call: CallRecord,
  attempt: AttemptRecord,
  position: number,
  addresses: ServerAddresses,
): Attribute[] {
  const address = addresses.get(addressKey(attempt.provider, call.family));
  return present([
    ['model_gateway.call.id', call.id],
    ['model_gateway.workspace.id', call.workspaceId],
    ['model_gateway.key.id', call.keyId],
    ['model_gateway.family', call.family],
    ['model_gateway.operation', call.operation],
    ['model_gateway.attempt.number', whole(position + 1)],
    ['model_gateway.provider', attempt.provider],
    ['gen_ai.provider.name', providerName(attempt.provider)],
    ...operationAttributes(call.operation),
    ['gen_ai.request.model', attempt.model],
    ['http.response.status_code', attempt.status === null ? null : whole(attempt.status)],
    ['model_gateway.upstream_request_id', attempt.upstreamRequestId],
    ['model_gateway.provider_error.code', attempt.providerCode],
    ['model_gateway.provider_error.message', attempt.providerMessage],
    ['model_gateway.possible_duplicate', attempt.possibleDuplicate || null],
    ['gen_ai.request.stream', call.streamed || null],
    ['error.type', errorOfAttempt(attempt)],
    ['server.address', address?.host ?? null],
    ['server.port', address ? whole(address.port) : null],
  ]);
}

const broken: ReadonlySet<string> = new Set(['upstream_error', 'timeout', 'interrupted']);

/** `error.type` of a call that usage counts as an error: an answer of 400 and above, or a broken one. */
function errorOf({ endReason, errorCode, status }: CallRecord): string | null {
  if (errorCode !== null) return errorCode;
  if (broken.has(endReason)) return endReason;
  return status >= 400 ? `${status}` : null;
}

function errorOfAttempt({ error, status }: AttemptRecord): string | null {
  if (error !== null) return error;
  return status !== null && status >= 400 ? `${status}` : null;
}
