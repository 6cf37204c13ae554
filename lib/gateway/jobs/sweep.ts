import { type JobStore, pollPlace, type StoredJob } from '#lib/gateway/jobs/job-store';
import type { RunningJobs } from '#lib/gateway/jobs/jobs';
import type { Poll } from '#lib/gateway/jobs/poll';
import { COLLECT_LIMIT_MS, FARTHEST_POLL_MS, POLL_LEASE_MS, POLL_LIMIT_MS } from '#lib/gateway/jobs/timing';
import type { Clock } from '#lib/platform/clock';

export interface SweepParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly store: JobStore;
  readonly jobs: Pick<RunningJobs, 'learn'>;
  readonly poll: Poll;
  report(error: unknown, callId: string | null): void;
  /** Time between looks for due jobs, ms; default 1,000. */
  readonly everyMs?: number;
}

/** Polls unfinished jobs for as long as the process runs (contract: jobs/polling). */
export interface Sweep {
  /** Takes no more jobs, ends the polls under way and waits for what they have to write. */
  stop(): Promise<void>;
}

/** A provider that does not answer keeps so many polls waiting, and those of no other one. */
const MOST_OF_PLACE = 8;
/** From the end of a poll to the next look while its place has more that is due, ms. */
const FULL_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 30_000;

/** Starts sweeping. One process polls a job at a time: rows are taken under lock, with a lease. */
export function startSweep(parts: SweepParts): Sweep {
  const { clock, store, jobs, report, everyMs = 1_000 } = parts;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  /** Polls under way by place. */
  const asking = new Map<string, number>();
  let looking: Promise<void> | null = null;
  /** Whether a place has as many as it may. */
  let full = false;
  /** A poll of it has ended since. */
  let ended = false;
  let pauseMs = everyMs;
  let lastLookMs = Number.POSITIVE_INFINITY;
  let timer = later(everyMs);

  function later(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => void tick(), delayMs).unref();
  }

  async function tick(): Promise<void> {
    ended = false;
    looking = look();
    try {
      await looking;
      pauseMs = everyMs;
    } catch (error) {
      report(error, null);
      pauseMs = Math.min(pauseMs * 2, Math.max(LONGEST_PAUSE_MS, everyMs));
    }
    looking = null;
    if (!stopping.signal.aborted) timer = later(full && ended ? Math.min(FULL_PAUSE_MS, pauseMs) : pauseMs);
  }

  /** Takes what is due, of each place only what it has room for. */
  async function look(): Promise<void> {
    const nowMs = clock.now();
    // At the start, and when the clock was set back: nothing must wait for a time that it only thought near.
    if (nowMs < lastLookMs) await store.hasten(nowMs, nowMs + FARTHEST_POLL_MS);
    lastLookMs = nowMs;
    await store.endClaims(nowMs);
    while (!stopping.signal.aborted) {
      const rooms = [...asking.values()].map((polls) => MOST_OF_PLACE - polls).filter((room) => room > 0);
      const most = Math.min(MOST_OF_PLACE, ...rooms);
      const busy = [...asking].flatMap(([id, polls]) => (polls < MOST_OF_PLACE ? [] : [id]));
      full = busy.length > 0;
      const due = await store.takeDue({ nowMs, leasedUntilMs: nowMs + POLL_LEASE_MS, most, busy });
      for (const job of due) start(job);
      if (due.length < most) return;
    }
  }

  function start(job: StoredJob): void {
    const place = pollPlace(job);
    asking.set(place, (asking.get(place) ?? 0) + 1);
    const polling = poll(job).finally(() => {
      running.delete(polling);
      const left = (asking.get(place) ?? 1) - 1;
      if (left > 0) asking.set(place, left);
      else asking.delete(place);
      hurry();
    });
    running.add(polling);
  }

  /** More of its place may be due: no need to wait for the next look. */
  function hurry(): void {
    if (!full || ended || stopping.signal.aborted) return;
    ended = true;
    if (looking) return;
    clearTimeout(timer);
    timer = later(Math.min(FULL_PAUSE_MS, everyMs));
  }

  /** Never rejects: a job that could not be polled or written is due again when its lease ends. */
  async function poll(job: StoredJob): Promise<void> {
    try {
      const limit = AbortSignal.any([stopping.signal, AbortSignal.timeout(POLL_LIMIT_MS)]);
      const polled = await parts.poll(job, limit);
      // Cut short by the stop: that says nothing of the job, which is due for the next process.
      if (stopping.signal.aborted && polled.kind === 'later')
        await store.note(job.callId, { nextPollAtMs: clock.now() });
      else
        await jobs.learn(
          job,
          polled,
          AbortSignal.any([stopping.signal, AbortSignal.timeout(COLLECT_LIMIT_MS)]),
        );
    } catch (error) {
      report(error, job.callId);
    }
  }

  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await looking?.catch(() => {});
      await Promise.all(running);
    },
  };
}
