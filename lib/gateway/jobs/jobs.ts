import type { JobSight, Jobs } from '#lib/core/facts/job';
import { familyOf } from '#lib/core/families/index';
import type { Collect } from '#lib/gateway/jobs/batches/collect';
import { isEnd } from '#lib/gateway/jobs/end';
import type { JobStore, StoredJob } from '#lib/gateway/jobs/job-store';
import type { Poll, Polled } from '#lib/gateway/jobs/poll';
import type { Settled } from '#lib/gateway/jobs/settle-job';
import { COLLECT_LIMIT_MS, patienceWith, pauseAfter } from '#lib/gateway/jobs/timing';
import type { Clock } from '#lib/platform/clock';

interface JobsParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly store: JobStore;
  readonly poll: Poll;
  /** Reads the results of a batch. */
  readonly collect: Collect;
  /** Errors that no call waits for. */
  report(error: unknown, callId: string | null): void;
}

/** The jobs of this gateway: what the pipeline asks of them, and what the sweeper learns. */
export interface RunningJobs extends Jobs {
  readonly counts: Readonly<JobCounts>;
  /** What a poll said of a job: settles, reschedules or gives it up. @throws when it could not be written. */
  learn(job: StoredJob, polled: Polled, signal?: AbortSignal): Promise<void>;
}

/** Longest that a client's DELETE or cancel waits for the job's state to be read first, ms. */
const READ_FIRST_MS = 10_000;
/** Longest that an answer waits until the job that it shows is written, ms. */
const WRITE_PATIENCE_MS = 2_000;
/**
 * So many 404s in a row mean that a job is gone: a single one may come from a machine of the provider that does not
 * know a new job yet, and what is gone can neither be fetched nor be charged.
 */
const MOST_MISSES = 3;
/** How long the gateway remembers what providers keep, ms (contract: jobs/lifetime). */
const KEPT_MS = 30 * 24 * 3_600_000;

/** @param parts the money behind it (`jobs/store`) and the providers (`jobs/poll`). */
export function createJobs(parts: JobsParts): RunningJobs {
  const { clock, store, report } = parts;
  const counts: JobCounts = { opened: 0, charged: 0, released: 0, lost: 0 };

  function count(settled: Settled): void {
    if (settled) counts[settled] += 1;
  }

  /** An end that an answer showed. The results of a batch are read by the sweeper, now. */
  async function settleSeen(job: Pick<StoredJob, 'callId' | 'kind'>, sight: JobSight): Promise<void> {
    if (isBatch(job)) await seeLater(job.callId, sight);
    else count(await store.settle(job.callId, { kind: 'seen', sight }));
  }

  async function seeLater(callId: string, sight: JobSight): Promise<void> {
    await store.note(callId, { sight: { ...sight, state: 'running' } });
    // Whose results are being read is not read a second time for each client that looks.
    await store.hurry(callId, clock.now());
  }

  /** A batch has ended: what its lines came to is written first, then all of it is charged at once. */
  async function settleBatch(job: StoredJob, sight: JobSight, signal: AbortSignal): Promise<void> {
    const all = await parts.collect(job, sight.view, signal);
    if (all) count(await store.settle(job.callId, { kind: 'seen', sight }));
    else await wait(job, { sight: { ...sight, state: 'running' }, misses: 0 });
  }

  /** A job without an end: by its age it is asked for again, lost or given up. */
  async function wait(job: StoredJob, next: { sight?: JobSight; misses?: number }): Promise<void> {
    const nowMs = clock.now();
    const patience = patienceWith(job, nowMs);
    if (patience.kind === 'give-up') {
      count(await store.settle(job.callId, { kind: 'given-up' }));
      return;
    }
    const { nextPollAtMs } = patience;
    if (patience.kind === 'lose' && (await store.lose(job.callId, nowMs, nextPollAtMs))) counts.lost += 1;
    await store.note(job.callId, { ...next, nextPollAtMs });
  }

  async function learn(
    job: StoredJob,
    polled: Polled,
    signal = AbortSignal.timeout(COLLECT_LIMIT_MS),
  ): Promise<void> {
    if (polled.kind === 'later') {
      if (polled.why !== null) report(new Error(polled.why), job.callId);
      await wait(job, {});
    } else if (polled.kind === 'missing') {
      const misses = job.misses + 1;
      if (misses < MOST_MISSES) await wait(job, { misses });
      else count(await store.settle(job.callId, { kind: 'gone' }));
    } else if (!isEnd(polled.sight.state)) await wait(job, { sight: polled.sight, misses: 0 });
    else if (isBatch(job)) await settleBatch(job, polled.sight, signal);
    else await settleSeen(job, polled.sight);
  }

  async function get(callId: string): Promise<StoredJob> {
    const job = await store.find(callId);
    if (!job) throw new Error('a resource says that it is a job, but there is none');
    return job;
  }

  /**
   * What cannot be written now, the sweeper finds again: a client's answer does not fail for it, nor does
   * it wait for long.
   */
  async function quietly(callId: string, work: () => Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, WRITE_PATIENCE_MS);
    });
    const written = work().catch((error: unknown) => report(error, callId));
    await Promise.race([written, late]);
    clearTimeout(timer);
  }

  return {
    counts,
    learn,

    async open(job) {
      await store.open(job, clock.now() + pauseAfter(0));
      counts.opened += 1;
      if (isEnd(job.sight.state)) await quietly(job.callId, () => settleSeen(job, job.sight));
    },

    saw: (callId, answer) =>
      quietly(callId, async () => {
        const job = await get(callId);
        const sight = sightOf(job, answer);
        if (!sight || job.settled) return;
        if (isEnd(sight.state)) await settleSeen(job, sight);
        else await store.note(callId, { sight });
      }),

    async readFirst(callId) {
      const job = await get(callId);
      if (job.settled) return job.state;
      const polled = await parts.poll(job, AbortSignal.timeout(READ_FIRST_MS));
      const state = polled.kind === 'seen' ? polled.sight.state : job.state;
      if (polled.kind === 'seen' && isEnd(state)) await settleSeen(job, polled.sight);
      else {
        if (polled.kind === 'seen') await store.note(callId, { sight: polled.sight });
        // Should this process die before the provider's answer is here, the sweeper must know. What the
        // provider has lost by itself is not removed.
        if (polled.kind !== 'missing') await store.noteRemoving(callId, state);
      }
      return state;
    },

    removed: (callId, before, answer) =>
      quietly(callId, async () => {
        const job = await get(callId);
        const sight = sightOf(job, answer);
        if (isBatch(job)) {
          // It ends at its own time, with the results that it has by then.
          if (sight && !job.settled) await seeLater(callId, sight);
          if (!sight) await store.markRemoved(callId, clock.now());
          return;
        }
        // An answer that shows the job is that of a cancel: it can still be read.
        if (!sight) await store.markRemoved(callId, clock.now());
        if (job.settled) return;
        if (sight && !isEnd(sight.state)) await store.note(callId, { sight });
        else count(await store.settle(callId, { kind: 'removed', before, sight }));
      }),

    async made(callId) {
      const job = await store.find(callId);
      if (!job) return null;
      return (job.view && familyOf(job.family)?.jobs?.made?.(job.facts, job.view)) ?? job.facts;
    },

    async owes(callId) {
      const job = await store.find(callId);
      return job !== null && !job.settled;
    },

    list: (workspaceId, kind, page) =>
      store.list(workspaceId, kind, { ...page, sinceMs: clock.now() - KEPT_MS }),
  };
}

function isBatch({ kind }: Pick<StoredJob, 'kind'>): boolean {
  return kind === 'batch';
}

/** null: the answer is none of this job. */
function sightOf(job: StoredJob, answer: unknown): JobSight | null {
  return familyOf(job.family)?.jobs?.read(job.facts, answer) ?? null;
}

/** How jobs went in one process since its start; for metrics. */
export interface JobCounts {
  opened: number;
  charged: number;
  released: number;
  lost: number;
}
