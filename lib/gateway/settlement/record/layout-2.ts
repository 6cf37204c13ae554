import type { CostLine } from '#lib/core/metering/cost-line';
import { noUsage, type Usage, usageClasses } from '#lib/core/metering/usage';
import type { AttemptRecord, CallRecord } from '#lib/gateway/settlement/pure/entry';
import { readEndReason, readUsageSource } from '#lib/gateway/settlement/record/words';

/** The call of a record in layout 2, whose rows were JSON objects. @throws Error when it is none. */
export function readCall(value: unknown): CallRecord {
  const row = rowOf(value);
  return {
    id: textOf(row.id),
    clientRequestId: textOrNull(row.client_request_id),
    atMs: Date.parse(textOf(row.at)),
    workspaceId: textOf(row.workspace_id),
    keyId: textOf(row.key_id),
    family: textOf(row.family),
    operation: textOf(row.operation),
    requestedModel: textOrNull(row.requested_model),
    answeringModel: textOrNull(row.answering_model),
    provider: textOrNull(row.provider),
    status: Number(row.status ?? 0),
    errorCode: textOrNull(row.error_code),
    streamed: row.streamed === true,
    latencyMs: Number(row.latency_ms ?? 0),
    firstByteMs: numberOrNull(row.first_byte_ms),
    overheadMs: Number(row.overhead_ms ?? 0),
    endReason: readEndReason(row.end_reason ?? 'completed'),
    usageSource: readUsageSource(row.usage_source ?? 'none'),
    flags: arrayOf(row.flags ?? []).map(textOf),
    usage: readUsage(rowOf(row.usage ?? {})),
    lines: arrayOf(row.lines ?? []).map(readLine),
    costNano: BigInt(textOf(row.cost_nano ?? '0')),
    holdNano: BigInt(textOf(row.hold_nano)),
    priceVersionId: textOrNull(row.price_version_id),
    userAgent: textOrNull(row.user_agent),
    attempts: arrayOf(row.attempts ?? []).map(readAttempt),
  };
}

function readUsage(row: Row): Usage {
  const usage = { ...noUsage };
  for (const name of usageClasses) usage[name] = Number(row[name] ?? 0);
  return usage;
}

function readLine(value: unknown): CostLine {
  const row = rowOf(value);
  return {
    class: textOf(row.class),
    quantity: Number(row.quantity),
    unitPriceNano: BigInt(textOf(row.unitPriceNano)),
  };
}

function readAttempt(value: unknown): AttemptRecord {
  const row = rowOf(value);
  return {
    provider: textOf(row.provider),
    model: textOf(row.model),
    status: numberOrNull(row.status),
    error: textOrNull(row.error),
    startMs: Number(row.start_ms),
    durationMs: Number(row.duration_ms),
    upstreamRequestId: textOrNull(row.upstream_request_id),
    possibleDuplicate: row.possible_duplicate === true,
    providerCode: null,
    providerMessage: null,
  };
}

type Row = Readonly<Record<string, unknown>>;

function rowOf(value: unknown): Row {
  if (typeof value !== 'object' || value === null) throw new Error('a journal record lacks a row');
  return Object.fromEntries(Object.entries(value));
}

function arrayOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('a journal record lacks a list');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a journal record lacks a text');
  return value;
}

const textOrNull = (value: unknown): string | null => (value == null ? null : textOf(value));
const numberOrNull = (value: unknown): number | null => (value == null ? null : Number(value));
