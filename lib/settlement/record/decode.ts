import type { Funding } from '#lib/admission/claim';
import { noUsage, type Usage, type UsageSource, usageClasses } from '#lib/metering/usage';
import { readResources } from '#lib/resources/row';
import type { AttemptRecord, CallRecord, CostLine, EndReason, Entry } from '#lib/settlement/entry';
import { layoutVersion } from '#lib/settlement/record/encode';
import { storedAttempt } from '#lib/settlement/record/stored-attempts';

/** @throws Error when the payload is not one that `encodeEntry` made. */
export function decodeEntry(payload: string): Entry {
  const fields = arrayOf(JSON.parse(payload));
  const [made, kind, callId, funding, atMs, holdNano, tokens] = fields;
  if (made !== layoutVersion)
    throw new Error(`journal record of version ${String(made)}, expected ${layoutVersion}`);
  if (kind === 'keep') return { kind, callId: textOf(callId), resources: readResources(fields.at(-1)) };
  const entry = { callId: textOf(callId), call: readCall(rowOf(fields.at(-1))) };
  switch (kind) {
    case 'open':
      return {
        kind,
        ...entry,
        funding: readFunding(funding),
        atMs: Number(atMs),
        holdNano: BigInt(textOf(holdNano)),
        tokens: Number(tokens),
      };
    case 'close':
      return { kind, ...entry, funding: readFunding(funding) };
    case 'checkpoint':
    case 'refused':
      return { kind, ...entry };
    default:
      throw new Error(`unknown journal record "${String(kind)}"`);
  }
}

/** A row of a call; what an open one cannot know yet is left out of its row. */
function readCall(row: Row): CallRecord {
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
    overHoldNano: BigInt(textOf(row.over_hold_nano ?? '0')),
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
    cost: textOf(row.cost),
  };
}

/** By position, as the column has it; objects in journals of before. */
function readAttempt(value: unknown): AttemptRecord {
  if (Array.isArray(value)) return storedAttempt(value);
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
  };
}

const fundings = { lease: 'lease', row: 'row', none: 'none' } as const;
const endReasons = {
  completed: 'completed',
  client_gone: 'client_gone',
  upstream_error: 'upstream_error',
  timeout: 'timeout',
  interrupted: 'interrupted',
  refused: 'refused',
} as const;
const usageSources = { reported: 'reported', estimated: 'estimated', none: 'none' } as const;

const readFunding = (value: unknown): Funding => oneOf(fundings, value);
const readEndReason = (value: unknown): EndReason => oneOf(endReasons, value);
const readUsageSource = (value: unknown): UsageSource => oneOf(usageSources, value);

function oneOf<T>(known: Readonly<Record<string, T>>, value: unknown): T {
  const found = typeof value === 'string' ? known[value] : undefined;
  if (found === undefined) throw new Error(`unknown word "${String(value)}" in a journal record`);
  return found;
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
