import type { Funding } from '#lib/admission/claim';
import type { Usage, UsageSource } from '#lib/metering/usage';
import type { AttemptRecord, CallRecord, CostLine, EndReason, Entry } from '#lib/settlement/entry';
import { layoutVersion } from '#lib/settlement/record/encode';

/** @throws Error when the payload is not one that `encodeEntry` made. */
export function decodeEntry(payload: string): Entry {
  const [made, kind, callId, call, funding, atMs, holdNano, tokens] = arrayOf(JSON.parse(payload));
  if (made !== layoutVersion)
    throw new Error(`journal record of version ${String(made)}, expected ${layoutVersion}`);
  const entry = { callId: textOf(callId), call: readCall(arrayOf(call)) };
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

function readCall(field: readonly unknown[]): CallRecord {
  return {
    id: textOf(field[0]),
    clientRequestId: textOrNull(field[1]),
    atMs: Number(field[2]),
    workspaceId: textOf(field[3]),
    keyId: textOf(field[4]),
    family: textOf(field[5]),
    operation: textOf(field[6]),
    requestedModel: textOrNull(field[7]),
    answeringModel: textOrNull(field[8]),
    provider: textOrNull(field[9]),
    status: Number(field[10]),
    errorCode: textOrNull(field[11]),
    streamed: field[12] === true,
    latencyMs: Number(field[13]),
    firstByteMs: numberOrNull(field[14]),
    overheadMs: Number(field[15]),
    endReason: readEndReason(field[16]),
    usageSource: readUsageSource(field[17]),
    flags: arrayOf(field[18]).map(textOf),
    usage: readUsage(arrayOf(field[19])),
    lines: arrayOf(field[20]).map(readLine),
    costNano: BigInt(textOf(field[21])),
    holdNano: BigInt(textOf(field[22])),
    overHoldNano: BigInt(textOf(field[23])),
    priceVersionId: textOrNull(field[24]),
    userAgent: textOrNull(field[25]),
    attempts: arrayOf(field[26]).map(readAttempt),
  };
}

function readUsage(field: readonly unknown[]): Usage {
  const figure = (at: number) => Number(field[at] ?? 0);
  return {
    input: figure(0),
    cachedInput: figure(1),
    cacheWrite5m: figure(2),
    cacheWrite1h: figure(3),
    output: figure(4),
    reasoning: figure(5),
    audioInput: figure(6),
    audioOutput: figure(7),
    imageInput: figure(8),
    imageOutput: figure(9),
    images: figure(10),
    videoSeconds: figure(11),
    webSearches: figure(12),
  };
}

function readLine(value: unknown): CostLine {
  const field = arrayOf(value);
  return {
    class: textOf(field[0]),
    quantity: Number(field[1]),
    unitPriceNano: BigInt(textOf(field[2])),
    cost: textOf(field[3]),
  };
}

function readAttempt(value: unknown): AttemptRecord {
  const field = arrayOf(value);
  return {
    id: textOf(field[0]),
    provider: textOf(field[1]),
    model: textOf(field[2]),
    status: numberOrNull(field[3]),
    error: textOrNull(field[4]),
    startMs: Number(field[5]),
    durationMs: Number(field[6]),
    upstreamRequestId: textOrNull(field[7]),
    possibleDuplicate: field[8] === true,
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

function arrayOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('a journal record lacks a list');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a journal record lacks a text');
  return value;
}

const textOrNull = (value: unknown): string | null => (value === null ? null : textOf(value));
const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));
