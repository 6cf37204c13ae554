import type { Clock } from '#lib/clock';
import type { RunningJobs } from '#lib/jobs/jobs';
import type { Poll } from '#lib/jobs/poll';
import type { JobStore, StoredJob } from '#lib/jobs/stored-job';
import { POLL_LEASE_MS, POLL_LIMIT_MS } from '#lib/jobs/timing';

export interface SweepParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly store: JobStore;
  readonly jobs: Pick<RunningJobs, 'learn'>;
  readonly poll: Poll;
  report(error: unknown, callId: string | null): void;
  /** Time between looks for due jobs, ms; default 1,000. */
  readonly everyMs?: number;
}

/** Polls unfinished jobs for as long as the process runs (decisions §11 "Jobs"). */
export interface Sweep {
  /** Takes no more jobs, ends the polls under way and waits for what they have to write. */
  stop(): Promise<void>;
}

const MOST_AT_ONCE = 8;
/** Until the next look while more is due than may be polled at once, ms. */
const FULL_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 30_000;

/** Starts sweeping. One process polls a job at a time: rows are taken under lock, with a lease. */
export function startSweep(parts: SweepParts): Sweep {
  const { clock, store, jobs, report, everyMs = 1_000 } = parts;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let looking = Promise.resolve();
  let pauseMs = everyMs;
  let timer = setTimeout(tick, pauseMs);
  timer.unref();

  function tick(): void {
    looking = look().then(
      (full) => {
        pauseMs = full ? Math.min(FULL_PAUSE_MS, everyMs) : everyMs;
      },
      (error: unknown) => {
        report(error, null);
        pauseMs = Math.min(pauseMs * 2, Math.max(LONGEST_PAUSE_MS, everyMs));
      },
    );
    looking.then(() => {
      if (stopping.signal.aborted) return;
      timer = setTimeout(tick, pauseMs);
      timer.unref();
    });
  }

  /** @returns whether more may be due than there was room for. */
  async function look(): Promise<boolean> {
    const room = MOST_AT_ONCE - running.size;
    if (room <= 0) return true;
    const nowMs = clock.now();
    const due = await store.takeDue(nowMs, nowMs + POLL_LEASE_MS, room);
    for (const job of due) {
      const polling = poll(job).finally(() => running.delete(polling));
      running.add(polling);
    }
    return due.length === room;
  }

  /** Never rejects: a job that could not be polled or written is due again when its lease ends. */
  async function poll(job: StoredJob): Promise<void> {
    try {
      const limit = AbortSignal.any([stopping.signal, AbortSignal.timeout(POLL_LIMIT_MS)]);
      const polled = await parts.poll(job, limit);
      // Cut short by the stop: that says nothing of the job, which is due for the next process.
      if (stopping.signal.aborted && polled.kind === 'later')
        await store.note(job.callId, { nextPollAtMs: clock.now() });
      else await jobs.learn(job, polled);
    } catch (error) {
      report(error, job.callId);
    }
  }

  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await looking;
      await Promise.all(running);
    },
  };
}
