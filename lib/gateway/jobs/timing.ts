/** How long one poll may take, ms. */
export const POLL_LIMIT_MS = 30_000;
/** No other process takes a job that is being polled for this long, ms: longer than a poll and its settlement. */
export const POLL_LEASE_MS = 90_000;

/** How long reading the results of a batch may take, ms; its lease is renewed meanwhile. */
export const COLLECT_LIMIT_MS = 30 * 60_000;

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** No poll is ever put off for longer than an hour: what is due beyond that was put there by a wrong clock. */
export const FARTHEST_POLL_MS = 2 * HOUR_MS;
/** No end after this long: its hold is released (contract: jobs/lost). */
const LOST_AFTER_MS = 24 * HOUR_MS;
/** A batch may take a day, and then the time to write its results. */
const BATCH_LOST_AFTER_MS = 48 * HOUR_MS;
/** A lost job is asked for so much longer. */
const GIVEN_UP_AFTER_MS = 7 * 24 * HOUR_MS;

/** @returns ms until the next poll of a job that was polled so often: 5 s, doubling to 60 s. */
export function pauseAfter(polls: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, Math.min(polls, 10)));
}

/** What a job without an end is to become, by its age. */
export type Patience =
  /** Ask again then. */
  | { readonly kind: 'wait'; readonly nextPollAtMs: number }
  /** Release its hold now, and ask again then. */
  | { readonly kind: 'lose'; readonly nextPollAtMs: number }
  /** It is no longer polled. */
  | { readonly kind: 'give-up' };

/**
 * @param job `createdAtMs` since the epoch; `lost`: its hold was released before.
 * @param nowMs since the epoch.
 */
export function patienceWith(
  job: {
    readonly kind: string;
    readonly createdAtMs: number;
    readonly polls: number;
    readonly lost: boolean;
  },
  nowMs: number,
): Patience {
  const ageMs = nowMs - job.createdAtMs;
  const lostAfterMs = job.kind === 'batch' ? BATCH_LOST_AFTER_MS : LOST_AFTER_MS;
  if (ageMs < lostAfterMs) return { kind: 'wait', nextPollAtMs: nowMs + pauseAfter(job.polls) };
  const nextPollAtMs = nowMs + HOUR_MS;
  if (!job.lost) return { kind: 'lose', nextPollAtMs };
  return ageMs < lostAfterMs + GIVEN_UP_AFTER_MS ? { kind: 'wait', nextPollAtMs } : { kind: 'give-up' };
}
