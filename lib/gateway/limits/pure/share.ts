import type { StoredLimits } from '#lib/core/facts/snapshot';

/** The processes that share the limits. */
export interface Fleet {
  /** At least 1. */
  readonly processes: number;
  /** Position of this one among them, from 0. */
  readonly rank: number;
}

/** The fleet, as it was read last: this process alone until then. */
export interface FollowedFleet {
  now(): Fleet;
  start(): Promise<void>;
  stop(): void;
}

/**
 * What this process may admit by itself while the store is away (contract: limits/store-away): its part of each limit.
 * All parts together are the limit: what does not divide goes to those of lower rank, so that a limit below the number
 * of processes is 0 in some.
 */
export function shareOf({ rpm, tpm, concurrency }: StoredLimits, { processes, rank }: Fleet): StoredLimits {
  const part = (limit: number | null) =>
    limit === null ? null : Math.floor(limit / processes) + (rank < limit % processes ? 1 : 0);
  return { rpm: part(rpm), tpm: part(tpm), concurrency: part(concurrency) };
}
