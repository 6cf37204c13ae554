import type { AttemptRecord, CallRecord } from '#lib/gateway/settlement/pure/entry';
import {
  operationAttributes,
  providerAttribute,
  spanName,
  tokenAttributes,
  whole,
} from '#lib/programs/telemetry/spans/gen-ai';
import {
  type Attribute,
  addressKey,
  type ServerAddresses,
  type Span,
  spanIdOf,
  spanMarks,
  traceIdOf,
} from '#lib/programs/telemetry/spans/span';
import { costAttributes, lineAttributes, usageAttributes } from '#lib/programs/telemetry/spans/usd';

/**
 * The span of a call and one of each of its attempts (docs/guide/telemetry.md). The same record gives the same ids each time,
 * so that a repeat can be told. Tokens and cost stand on the call alone: a sum over all spans counts them once.
 * @returns none for an id that is no UUID.
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
  const attempts = call.attempts.map((attempt, position): Span => {
    return {
      traceId,
      spanId: spanIdOf(call.id, spanMarks.attempt + position),
      parentSpanId: spanId,
      name: spanName(call.operation, attempt.model),
      kind: 'client',
      startMs: call.atMs + attempt.startMs,
      endMs: call.atMs + attempt.startMs + attempt.durationMs,
      attributes: attemptAttributes(call, attempt, position, addresses),
      failed: errorOfAttempt(attempt) !== null,
    };
  });
  return [root, ...attempts];
}

function callAttributes(call: CallRecord): Attribute[] {
  const found: Attribute[] = [
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
  ];
  const add = (name: string, value: string | null) => {
    if (value !== null) found.push([name, value]);
  };
  add('gen_ai.request.model', call.requestedModel);
  add('gen_ai.response.model', call.answeringModel);
  if (call.provider !== null) found.push(providerAttribute(call.provider));
  add('model_gateway.provider', call.provider);
  add('model_gateway.client_request_id', call.clientRequestId);
  add('model_gateway.price_version.id', call.priceVersionId);
  add('model_gateway.error_code', call.errorCode);
  add('user_agent.original', call.userAgent);
  add('error.type', errorOf(call));
  if (call.status > 0) found.push(['http.response.status_code', whole(call.status)]);
  if (call.flags.length > 0) found.push(['model_gateway.flags', call.flags]);
  if (call.usageSource !== 'none') found.push(...tokenAttributes(call.usage));
  if (call.streamed) found.push(['gen_ai.request.stream', true]);
  if (call.firstByteMs === null) return found;
  found.push(['model_gateway.first_byte_ms', whole(call.firstByteMs)]);
  if (call.streamed) found.push(['gen_ai.response.time_to_first_chunk', call.firstByteMs / 1000]);
  return found;
}

function attemptAttributes(
  call: CallRecord,
  attempt: AttemptRecord,
  position: number,
  addresses: ServerAddresses,
): Attribute[] {
  const found: Attribute[] = [
    ['model_gateway.call.id', call.id],
    ['model_gateway.workspace.id', call.workspaceId],
    ['model_gateway.key.id', call.keyId],
    ['model_gateway.family', call.family],
    ['model_gateway.operation', call.operation],
    ['model_gateway.attempt.number', whole(position + 1)],
    ['model_gateway.provider', attempt.provider],
    providerAttribute(attempt.provider),
    ...operationAttributes(call.operation),
    ['gen_ai.request.model', attempt.model],
  ];
  const { status, upstreamRequestId } = attempt;
  if (status !== null) found.push(['http.response.status_code', whole(status)]);
  if (upstreamRequestId !== null) found.push(['model_gateway.upstream_request_id', upstreamRequestId]);
  if (attempt.providerCode !== null) found.push(['model_gateway.provider_error.code', attempt.providerCode]);
  if (attempt.providerMessage !== null)
    found.push(['model_gateway.provider_error.message', attempt.providerMessage]);
  if (attempt.possibleDuplicate) found.push(['model_gateway.possible_duplicate', true]);
  if (call.streamed) found.push(['gen_ai.request.stream', true]);
  const error = errorOfAttempt(attempt);
  if (error !== null) found.push(['error.type', error]);
  const address = addresses.get(addressKey(attempt.provider, call.family));
  if (address) found.push(['server.address', address.host], ['server.port', whole(address.port)]);
  return found;
}

const broken: ReadonlySet<string> = new Set(['upstream_error', 'timeout', 'interrupted']);

/** `error.type` of a call that counts as an error in usage: any answer of 400 and above, or one that broke off. */
function errorOf({ endReason, errorCode, status }: CallRecord): string | null {
  if (errorCode !== null) return errorCode;
  if (broken.has(endReason)) return endReason;
  return status >= 400 ? `${status}` : null;
}

function errorOfAttempt({ error, status }: AttemptRecord): string | null {
  if (error !== null) return error;
  return status !== null && status >= 400 ? `${status}` : null;
}
