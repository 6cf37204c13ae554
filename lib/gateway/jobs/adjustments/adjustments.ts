import { familyOf } from '#lib/core/families/index';
import type { AdjustmentStore, StoredBy } from '#lib/gateway/jobs/adjustments/adjustment-store';
import { isEnd } from '#lib/gateway/jobs/end';
import type { Clock } from '#lib/platform/clock';

/** Most calls remembered as needing no adjustment, whose responses are then read without a query. */
const MOST_KNOWN = 50_000;
/** Interval of retries while adjustments wait for their calls, and otherwise; ms. */
const WAITING_MS = 1_000;
const IDLE_MS = 60_000;

/**
 * Corrects estimated charges once the stored responses of those calls report their usage
 * (contract: money/late-usage).
 */
export class Adjustments {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #store: AdjustmentStore;
  readonly #report: (error: unknown, callId: string | null) => void;
  readonly #settled = new Set<string>();
  #stopped = false;
  #looking: Promise<void> | null = null;
  #timer = this.#later(WAITING_MS);

  /** @param report receives errors of background work. */
  constructor(
    clock: Pick<Clock, 'now'>,
    store: AdjustmentStore,
    report: (error: unknown, callId: string | null) => void,
  ) {
    this.#clock = clock;
    this.#store = store;
    this.#report = report;
  }

  /** The call was charged by reported usage: its response needs no adjustment. */
  reported(callId: string): void {
    this.#settled.add(callId);
    const [oldest] = this.#settled;
    if (this.#settled.size > MOST_KNOWN && oldest !== undefined) this.#settled.delete(oldest);
  }

  /**
   * Called with a stored response (parsed JSON) before it is shown: if it has ended and reports its usage, the difference
   * to the estimate is settled, exactly once.
   * @throws Error of the database.
   */
  async retrieved(made: StoredBy, answer: unknown): Promise<void> {
    if (this.#settled.has(made.callId)) return;
    const sight = familyOf(made.family)?.jobs?.read({}, answer);
    if (!sight?.report || sight.report.unread || !isEnd(sight.state)) return;
    const left = await this.#store.settle(made, sight.report, this.#clock.now());
    if (left === 'done') this.reported(made.callId);
    if (left !== 'waits' || this.#looking !== null || this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = this.#later(WAITING_MS);
  }

  /** Stops the background work. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #later(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#looking = this.#look();
    }, delayMs).unref();
  }

  async #look(): Promise<void> {
    let waiting = false;
    try {
      waiting = await this.#store.settleWaiting(this.#clock.now());
    } catch (error) {
      this.#report(error, null);
    }
    this.#looking = null;
    if (!this.#stopped) this.#timer = this.#later(waiting ? WAITING_MS : IDLE_MS);
  }
}
