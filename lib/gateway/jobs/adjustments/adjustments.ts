import { familyOf } from '#lib/core/families/index';
import type { AdjustmentStore, StoredBy } from '#lib/gateway/jobs/adjustments/create-adjustments';
import { isEnd } from '#lib/gateway/jobs/end';
import type { Clock } from '#lib/platform/clock';

/**
 * Corrects estimated charges once the stored responses of those calls report their usage
 * (contract: money/late-usage).
 */
export interface Adjustments {
  /** The call was charged by reported usage: its response needs no adjustment. */
  reported(callId: string): void;
  /**
   * Called with a stored response (parsed JSON) before it is shown: if it has ended and reports its usage, the difference
   * to the estimate is settled, exactly once.
   * @throws Error of the database.
   */
  retrieved(made: StoredBy, answer: unknown): Promise<void>;
}

export interface AdjustmentsParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly store: AdjustmentStore;
  /** Receives errors of background work. */
  report(error: unknown, callId: string | null): void;
}

export interface RunningAdjustments extends Adjustments {
  /** Stops the background work. */
  stop(): Promise<void>;
}

/** Most calls remembered as needing no adjustment, whose responses are then read without a query. */
const MOST_KNOWN = 50_000;
/** Interval of retries while adjustments wait for their calls, and otherwise; ms. */
const WAITING_MS = 1_000;
const IDLE_MS = 60_000;

export function createAdjustments({ clock, store, report }: AdjustmentsParts): RunningAdjustments {
  const settled = new Set<string>();
  let stopped = false;
  let looking: Promise<void> | null = null;
  let timer = later(WAITING_MS);

  function later(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      looking = look();
    }, delayMs).unref();
  }

  async function look(): Promise<void> {
    let waiting = false;
    try {
      waiting = await store.settleWaiting(clock.now());
    } catch (error) {
      report(error, null);
    }
    looking = null;
    if (!stopped) timer = later(waiting ? WAITING_MS : IDLE_MS);
  }

  function remember(callId: string): void {
    settled.add(callId);
    if (settled.size <= MOST_KNOWN) return;
    for (const oldest of settled) {
      settled.delete(oldest);
      return;
    }
  }

  return {
    reported: remember,

    async retrieved(made, answer) {
      if (settled.has(made.callId)) return;
      const sight = familyOf(made.family)?.jobs?.read({}, answer);
      if (!sight?.report || sight.report.unread || !isEnd(sight.state)) return;
      const left = await store.settle(made, sight.report, clock.now());
      if (left === 'done') remember(made.callId);
      if (left !== 'waits' || looking !== null || stopped) return;
      clearTimeout(timer);
      timer = later(WAITING_MS);
    },

    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
