import { showClass, showQuantity, showUnitPrice } from '#lib/console/show/cost-line';
import { showForeign } from '#lib/console/show/foreign';
import { showAgo, showMoment, showSpan } from '#lib/console/show/time';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { goodScore } from '#lib/core/facts/feedback';
import { ownFeeClass } from '#lib/core/metering/own-fee';
import { formatUsd } from '#lib/core/money';
import { showCount, showMoney } from '#lib/core/show-money';

export interface CallPlace {
  /** Slug. */
  readonly workspace: string;
  readonly timeZone: string;
  readonly nowMs: number;
}

/** All input, including tokens read from the cache. */
function tokensIn({ usage }: CallDetail): number {
  return usage.input + usage.cachedInput + usage.cacheWrite5m + usage.cacheWrite1h;
}

/** Output tokens per second after the first byte; null if it was not streamed, or too short to measure. */
function showSpeed({ streamed, latencyMs, firstByteMs, usage }: CallDetail): string | null {
  const outputMs = latencyMs - (firstByteMs ?? 0);
  const perSecond = streamed && outputMs > 0 ? (usage.output * 1000) / outputMs : 0;
  return perSecond >= 1 ? showCount(perSecond) : null;
}

const modelsPath = 'GET /v1/models';

/** The requested model; of a list or an entry of models, the request itself. */
function requestedOf({ operation, requestedModel }: CallDetail): string | null {
  const model = requestedModel === null ? null : showForeign(requestedModel);
  if (operation === 'models.list') return modelsPath;
  if (operation === 'models.read') return `${modelsPath}/${model ?? '…'}`;
  return model;
}

/** Whether the gateway answered without asking a provider. */
function isOwn({ operation, attempts, status, endReason }: CallDetail): boolean {
  return (
    operation.startsWith('models.') || (attempts.length === 0 && status < 400 && endReason === 'completed')
  );
}

/** What was said about the answer of a call; null: nothing. */
function verdictOf({ feedback }: CallDetail) {
  if (feedback === null) return null;
  const { score, label } = feedback;
  const good = score === null ? null : score >= goodScore;
  return {
    good,
    score: score === null ? null : String(score),
    label: label === null ? null : showForeign(label),
  };
}

/** The feedback of a call on its page; null: there is none. */
export function feedbackRowOf(call: CallDetail, { timeZone, nowMs }: Pick<CallPlace, 'timeZone' | 'nowMs'>) {
  const { feedback } = call;
  const verdict = verdictOf(call);
  if (feedback === null || verdict === null) return null;
  const atMs = Date.parse(feedback.at);
  return {
    ...verdict,
    text: feedback.text,
    source: feedbackSources[feedback.by],
    written: `${showMoment(atMs, timeZone)}, ${showAgo(atMs, nowMs)}`,
  };
}

const feedbackSources = {
  'api-key': 'Written with the API key that made the call',
  'management-key': 'Written with a management key',
  user: 'Written by a member',
  operator: 'Written by an operator',
} as const;

/** Whether an own key answered a call, or the operator's credential in its place (contract: own-keys/marks). */
function ownKeyMarkOf({ flags }: CallDetail): 'answered' | 'fallback' | null {
  if (flags.includes('own_key')) return 'answered';
  return flags.includes('own_key_fallback') ? 'fallback' : null;
}

/** Whether a call was answered again for its `Idempotency-Key`, or from the cache (contract: repeats/marks). */
function repeatMarkOf({ flags }: CallDetail): 'repeat' | 'cache' | null {
  if (flags.includes('cache_hit')) return 'cache';
  return flags.includes('repeat') ? 'repeat' : null;
}

/** The list price of a call by an own key, exact dollars; null: the call was charged at list price. */
function ownListPriceOf({ lines }: CallDetail): string | null {
  const fee = lines.at(-1);
  return fee?.class === ownFeeClass ? formatUsd(BigInt(fee.quantity)) : null;
}

/** The tags of a call: "feature=search". */
export function tagPairsOf({ tags }: Pick<CallDetail, 'tags'>): string[] {
  return Object.entries(tags).map(([name, value]) => `${name}=${value}`);
}

/** A call as the list shows it: everything ready to read. */
export function callRowOf(call: CallDetail, { workspace, timeZone, nowMs }: CallPlace) {
  const atMs = Date.parse(call.at);
  return {
    id: call.id,
    href: `/${workspace}/logs/${call.id}`,
    time: showMoment(atMs, timeZone),
    ago: showAgo(atMs, nowMs),
    isoTime: call.at,
    status: call.status,
    errorCode: call.errorCode,
    endReason: call.endReason,
    requested: requestedOf(call),
    answering: call.answeringModel,
    provider: call.provider ?? (isOwn(call) ? 'answered by the gateway' : null),
    attempts: call.attempts.length,
    operation: call.operation,
    streamed: call.streamed,
    tokens:
      tokensIn(call) + call.usage.output > 0
        ? { in: showCount(tokensIn(call)), out: showCount(call.usage.output) }
        : null,
    speed: showSpeed(call),
    cost: showMoney(call.cost),
    exactCost: call.cost,
    latency: showSpan(call.latencyMs),
    firstByte: call.firstByteMs === null ? null : showSpan(call.firstByteMs),
    keyId: call.key,
    keyName: call.keyName ?? 'deleted key',
    clientRequestId: call.clientRequestId,
    feedback: verdictOf(call),
    endUser: call.endUser,
    tags: tagPairsOf(call),
    ownKey: ownKeyMarkOf(call),
    repeat: repeatMarkOf(call),
  };
}

/** The attempts of a call on its timeline. */
export function attemptRowsOf(call: CallDetail) {
  const wholeMs = Math.max(1, call.latencyMs, ...call.attempts.map((a) => a.startMs + a.durationMs));
  return call.attempts.map((attempt, index) => ({
    provider: attempt.provider,
    model: attempt.model,
    status: attempt.status,
    error: attempt.error,
    started: showSpan(attempt.startMs),
    lasted: showSpan(attempt.durationMs),
    from: attempt.startMs / wholeMs,
    width: attempt.durationMs / wholeMs,
    upstreamRequestId: attempt.upstreamRequestId,
    possibleDuplicate: attempt.possibleDuplicate,
    providerCode: attempt.providerCode,
    providerMessage: attempt.providerMessage,
    translatedTo: attempt.translatedTo,
    lost: attempt.lost.map(showForeign),
    answered:
      index === call.attempts.length - 1 && attempt.status !== null && attempt.status < 400 && !attempt.error,
  }));
}

/** The lines of a call's charge; before the fee of an own key, what the lines up to there add up to. */
export function costRowsOf(call: CallDetail) {
  const rows = call.lines.map((line) => ({
    name: showClass(line.class),
    amount: {
      quantity: showQuantity(line.class, line.quantity),
      unitPrice: showUnitPrice(line.class, line.unitPrice),
    },
    cost: showMoney(line.cost),
    exactCost: line.cost,
  }));
  const listPrice = ownListPriceOf(call);
  if (listPrice === null) return rows;
  const sum = {
    name: 'List price, not charged',
    amount: null,
    cost: showMoney(listPrice),
    exactCost: listPrice,
  };
  return [...rows.slice(0, -1), sum, ...rows.slice(-1)];
}

const sources: Record<string, string> = {
  reported: 'as the provider reported it',
  estimated: 'estimated by the gateway',
  none: 'nothing was used',
};

/** The source of a call's usage, in words. */
export function usageSourceOf(call: CallDetail): string {
  if (call.flags.includes('usage_counted') && call.usageSource === 'reported')
    return 'counted by the gateway';
  return sources[call.usageSource] ?? call.usageSource;
}

/** The state of the job that a call created; null: it created none. */
export function jobRowOf({ job }: CallDetail, { timeZone, nowMs }: Pick<CallPlace, 'timeZone' | 'nowMs'>) {
  if (!job) return null;
  const settledMs = job.settledAt === null ? null : Date.parse(job.settledAt);
  return {
    id: job.id,
    kind: job.kind,
    provider: job.provider,
    state: job.lost && job.cost === null ? 'lost' : job.state,
    hold: job.cost === null && !job.lost ? showMoney(job.hold) : null,
    cost: job.cost === null ? null : showMoney(job.cost),
    exactCost: job.cost,
    settled: settledMs === null ? null : `${showMoment(settledMs, timeZone)}, ${showAgo(settledMs, nowMs)}`,
  };
}

/** The figures at the top of a call's page. */
export function figuresOf(call: CallDetail) {
  const speed = showSpeed(call);
  const listPrice = ownListPriceOf(call);
  return [
    {
      name: 'Cost',
      value: showMoney(call.cost),
      exact: `$${call.cost}`,
      note: listPrice === null ? undefined : `own key, list price ${showMoney(listPrice)}`,
    },
    { name: 'Latency', value: showSpan(call.latencyMs), note: `${showSpan(call.overheadMs)} in the gateway` },
    { name: 'First byte', value: call.firstByteMs === null ? 'none' : showSpan(call.firstByteMs) },
    {
      name: 'Tokens in',
      value: showCount(tokensIn(call)),
      note: call.usage.cachedInput > 0 ? `${showCount(call.usage.cachedInput)} cached` : undefined,
    },
    {
      name: 'Tokens out',
      value: showCount(call.usage.output),
      note: speed === null ? undefined : `${speed} a second`,
    },
    { name: 'Attempts', value: showCount(call.attempts.length) },
  ];
}
