import type { Attempt, Call } from '#generated/client';
import { noUsage, type Usage } from '#lib/metering/usage';
import { formatUsd } from '#lib/money';

/** One price class of a charge; money in dollars, `unitPrice` per million units (decisions §6). */
interface CallLine {
  class: string;
  quantity: number;
  unitPrice: string;
  /** Exact share before the call's one rounding up, so it may have up to 15 decimals. */
  cost: string;
}

interface CallAttempt {
  provider: string;
  model: string;
  status: number | null;
  error: string | null;
  startMs: number;
  durationMs: number;
  upstreamRequestId: string | null;
  possibleDuplicate: boolean;
}

/** A call as "call show" prints it (operations.md "JSON shapes"), ready for JSON.stringify. */
export interface CallDetail {
  id: string;
  clientRequestId: string | null;
  at: string;
  /** Slug. */
  workspace: string;
  /** Key id. */
  key: string;
  keyName: string | null;
  family: string;
  operation: string;
  requestedModel: string | null;
  answeringModel: string | null;
  provider: string | null;
  status: number;
  errorCode: string | null;
  streamed: boolean;
  latencyMs: number;
  firstByteMs: number | null;
  overheadMs: number;
  endReason: string;
  usageSource: string;
  cost: string;
  /** What the charge exceeded the hold by, dollars. */
  overHold: string;
  flags: string[];
  priceVersion: string | null;
  userAgent: string | null;
  usage: Usage;
  lines: CallLine[];
  attempts: CallAttempt[];
}

/** Names that a call row holds as ids. */
export interface CallNames {
  readonly workspaceSlug: string | null;
  readonly keyName: string | null;
}

/** A row of the log and its attempts (in order) as the console and the command line show them. */
export function callDetail(call: Call, attempts: readonly Attempt[], names: CallNames): CallDetail {
  return {
    id: call.id,
    clientRequestId: call.clientRequestId,
    at: call.at.toISOString(),
    workspace: names.workspaceSlug ?? call.workspaceId,
    key: call.keyId,
    keyName: names.keyName,
    family: call.family,
    operation: call.operation,
    requestedModel: call.requestedModel,
    answeringModel: call.answeringModel,
    provider: call.provider,
    status: call.status,
    errorCode: call.errorCode,
    streamed: call.streamed,
    latencyMs: call.latencyMs,
    firstByteMs: call.firstByteMs,
    overheadMs: call.overheadMs,
    endReason: call.endReason,
    usageSource: call.usageSource,
    cost: formatUsd(call.costNano),
    overHold: formatUsd(call.overHoldNano),
    flags: call.flags,
    priceVersion: call.priceVersionId,
    userAgent: call.userAgent,
    usage: storedUsage(call.usage),
    lines: storedLines(call.lines),
    attempts: attempts.map((attempt) => ({
      provider: attempt.provider,
      model: attempt.model,
      status: attempt.status,
      error: attempt.error,
      startMs: attempt.startMs,
      durationMs: attempt.durationMs,
      upstreamRequestId: attempt.upstreamRequestId,
      possibleDuplicate: attempt.possibleDuplicate,
    })),
  };
}

/** Fields of a JSON column; {} when it holds no object. */
function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function storedUsage(json: unknown): Usage {
  const usage: Usage = { ...noUsage };
  for (const [name, value] of Object.entries(fieldsOf(json))) {
    if (name in usage && typeof value === 'number') Object.assign(usage, { [name]: value });
  }
  return usage;
}

/** Lines as the drain stores them: bigint as decimal string, `cost` in nano-dollars with decimals. */
function storedLines(json: unknown): CallLine[] {
  if (!Array.isArray(json)) return [];
  return json.map(fieldsOf).map((line) => ({
    class: String(line.class ?? ''),
    quantity: Number(line.quantity ?? 0),
    unitPrice: formatUsd(BigInt(String(line.unitPriceNano ?? '0'))),
    cost: nanoDecimalToUsd(String(line.cost ?? '0')),
  }));
}

/** "1500000.25" nano-dollars → "0.00150000025" dollars: the point moves nine places, digits stay. */
function nanoDecimalToUsd(text: string): string {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const digits = whole.padStart(10, '0');
  const decimals = (digits.slice(-9) + fraction).replace(/0+$/, '');
  const sign = text.startsWith('-') ? '-' : '';
  return `${sign}${digits.slice(0, -9).replace(/^0+(?=\d)/, '')}${decimals ? `.${decimals}` : ''}`;
}
