import { Histogram } from '#lib/core/metering/histogram';
import { noUsage, type Usage, usageClasses } from '#lib/core/metering/usage';
import type { CountedCall } from '#lib/gateway/settlement/pure/entry';
import { type ErrorClass, errorClassOf } from '#lib/gateway/settlement/pure/error-class';

/**
 * A quarter of an hour, by which usage is summed (contract: call-log/roll-up), ms. Midnight of every time zone is on one.
 */
export const quarterMs = 900_000;

/** Largest figure of one call in the sums; absurd ones stay unchanged in the call's own row. */
const mostCounted = 1_000_000_000_000;

/** Where usage counts: one row of `usage_quarter`. */
export interface QuarterPlace {
  readonly workspaceId: string;
  readonly keyId: string;
  /** Start of the quarter of admission, ms since the epoch. */
  readonly quarterMs: number;
  /** '' for calls whose model is not in the catalogue. */
  readonly model: string;
  /** '' for calls that reached none. */
  readonly provider: string;
}

/** Totals of the calls with the same key, model and provider, or a later correction of them. */
export interface UsageQuarter extends QuarterPlace {
  calls: number;
  refused: number;
  readonly errors: Partial<Record<ErrorClass, number>>;
  attempts: number;
  /** Calls that needed another target. */
  fallbacks: number;
  readonly used: Usage;
  costNano: bigint;
  /** List price of the calls made with own keys, of which `costNano` has only the fee. */
  ownListNano: bigint;
  /** Of all that were neither refused nor interrupted. */
  readonly latency: Histogram;
  /** Of those, the calls whose answer began. */
  readonly firstByte: Histogram;
}

export function newQuarter(place: QuarterPlace): UsageQuarter {
  const { workspaceId, keyId, quarterMs, model, provider } = place;
  return {
    workspaceId,
    keyId,
    quarterMs,
    model,
    provider,
    calls: 0,
    refused: 0,
    errors: {},
    attempts: 0,
    fallbacks: 0,
    used: { ...noUsage },
    costNano: 0n,
    ownListNano: 0n,
    latency: new Histogram(),
    firstByte: new Histogram(),
  };
}

/** Counts a call, whose row is new. */
export function addCall(quarter: UsageQuarter, call: CountedCall): void {
  quarter.calls += 1;
  const error = errorClassOf(call);
  if (error !== null) quarter.errors[error] = (quarter.errors[error] ?? 0) + 1;
  if (call.endReason === 'refused') quarter.refused += 1;
  const { tried } = call;
  quarter.attempts += tried;
  if (tried > 1) quarter.fallbacks += 1;
  addUsed(quarter.used, call.usage);
  quarter.costNano += call.costNano;
  quarter.ownListNano += call.ownListNano;
  if (call.endReason === 'refused' || call.endReason === 'interrupted') return;
  quarter.latency.add(call.latencyMs);
  if (call.firstByteMs !== null) quarter.firstByte.add(call.firstByteMs);
}

function addUsed(sum: Usage, usage: Readonly<Usage>): void {
  for (const name of usageClasses) if (usage[name] !== 0) sum[name] += counted(usage[name]);
}

/** What was used and charged after the call itself was counted: by its job, or as an adjustment. */
export function laterQuarter(
  place: QuarterPlace,
  used: Readonly<Usage>,
  { costNano, ownListNano }: Pick<UsageQuarter, 'costNano' | 'ownListNano'>,
): UsageQuarter {
  return { ...newQuarter(place), used: { ...used }, costNano, ownListNano };
}

/** A usage as the sums count it, figure by figure. */
export function countedUsage(usage: Readonly<Usage>): Usage {
  const made = { ...noUsage };
  addUsed(made, usage);
  return made;
}

/** A figure as the sums count it. */
export function counted(figure: number): number {
  return Number.isInteger(figure) ? Math.min(Math.max(figure, 0), mostCounted) : 0;
}

/** Start of the minute or quarter that a moment (ms since the epoch) counts in. */
export function startOf(atMs: number, lengthMs: number): number {
  return Math.floor(atMs / lengthMs) * lengthMs;
}
