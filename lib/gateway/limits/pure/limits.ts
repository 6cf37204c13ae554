import type { StoredLimits } from '#lib/core/facts/snapshot';

export const noLimits: StoredLimits = { rpm: null, tpm: null, concurrency: null };

/** What counts in a window of 60 s. */
export interface Weight {
  readonly requests: number;
  readonly tokens: number;
}

/** What one call counts as against the limits of its key and of its workspace. */
export interface CallWeight {
  /** 0: its request was counted before. */
  readonly requests: 0 | 1;
  /** null: tokens do not count for it. */
  readonly tokens: number | null;
  /** Whether it takes a slot, one of the calls that may run at a time. */
  readonly slot: boolean;
}

/** How a call that has ended counts. */
export interface EndedWeight {
  /** As it was admitted; its tokens were an estimate. */
  readonly weight: CallWeight;
  /** Tokens that count in the end. */
  readonly actual: number;
  /** The call never started: its request does not count either. */
  readonly undone: boolean;
}

/** How long a call has to wait for the limits of a key or a workspace. */
export interface LimitWaits {
  readonly limits: StoredLimits;
  /** ms until the call fits; 0: it fits. */
  readonly rpmMs: number;
  readonly tpmMs: number;
  readonly concurrencyFull: boolean;
}

export const noWaits: LimitWaits = { limits: noLimits, rpmMs: 0, tpmMs: 0, concurrencyFull: false };

/** Limit and what is left of it; null: no limit of that kind. */
type LimitNumber = { readonly limit: number; readonly remaining: number } | null;

export interface LimitNumbers {
  readonly requests: LimitNumber;
  readonly tokens: LimitNumber;
}

/** By kind, the numbers of the tighter of key and workspace (contract: limits/headers). */
export function tighter(key: LimitNumbers, workspace: LimitNumbers): LimitNumbers {
  return {
    requests: tighterOf(key.requests, workspace.requests),
    tokens: tighterOf(key.tokens, workspace.tokens),
  };
}

function tighterOf(one: LimitNumber, other: LimitNumber): LimitNumber {
  if (!one || !other) return one ?? other;
  return other.remaining < one.remaining ? other : one;
}

/** The processes that share the limits. */
export interface Fleet {
  /** At least 1. */
  readonly processes: number;
  /** Position of this one among them, from 0. */
  readonly rank: number;
}

/**
 * What this process may admit by itself while the store is away (contract: limits/store-away): its share of each limit.
 * The shares add up to the limit. What does not divide goes to processes of lower rank, so that a limit below the
 * number of processes is 0 in some.
 */
export function shareOf({ rpm, tpm, concurrency }: StoredLimits, { processes, rank }: Fleet): StoredLimits {
  const part = (limit: number | null) =>
    limit === null ? null : Math.floor(limit / processes) + (rank < limit % processes ? 1 : 0);
  return { rpm: part(rpm), tpm: part(tpm), concurrency: part(concurrency) };
}
