import type { StoredLimits } from '#lib/core/facts/snapshot';
import {
  type CallWeight,
  type EndedWeight,
  type LimitNumbers,
  type LimitWaits,
  noLimits,
} from '#lib/gateway/limits/pure/limits';
import { SlidingWindow, WINDOW_MS } from '#lib/gateway/limits/pure/window';

/** A call of the last minute that an earlier process admitted, to rebuild the windows at start. Monotonic ms. */
interface PastCall {
  readonly atMono: number;
  readonly tokens: number;
}

/** Where a call is counted for its key or its workspace, so that its end finds it again. */
export interface Counted {
  readonly counters: Counters;
  readonly rpmEntry: number;
  readonly tpmEntry: number;
}

/** What counts against the limits of a key or workspace at a moment. */
export interface LimitUse {
  /** Admitted in the last 60 s. */
  readonly requests: number;
  /** Counted in the last 60 s. */
  readonly tokens: number;
  /** Calls that run. */
  readonly atOnce: number;
}

/**
 * The counters of one key or workspace. Times are monotonic ms. The windows also count what no limit bounds: a
 * limit that is changed, removed and set again, or set for the first time counts what was admitted in the 60 s
 * before (contract: limits/changed).
 */
export class Counters {
  readonly rpm = new SlidingWindow(null);
  readonly tpm = new SlidingWindow(null);
  /** Calls in flight, including those with a place. */
  inFlight = 0;
  /** Calls with a place, each of which counts as one request admitted now. */
  #placed = 0;
  #limits = noLimits;

  /** Takes changed limits; a null one is no limit. */
  adopt(limits: StoredLimits): void {
    if (limits === this.#limits) return;
    this.#limits = limits;
    this.rpm.setLimit(limits.rpm);
    this.tpm.setLimit(limits.tpm);
  }

  /** Whether a call passes all limits that it counts against. */
  fits({ requests, tokens, slot }: CallWeight, nowMono: number): boolean {
    if (requests > 0 && (this.#placed > 0 ? this.#rpmMs(nowMono) > 0 : !this.rpm.fits(1, nowMono)))
      return false;
    if (slot && this.#full()) return false;
    return tokens === null || this.tpm.fits(tokens, nowMono);
  }

  /** The same question with the waits, for the refusal. */
  waits({ requests, tokens, slot }: CallWeight, nowMono: number): LimitWaits {
    return {
      limits: this.#limits,
      rpmMs: requests > 0 ? this.#rpmMs(nowMono) : 0,
      tpmMs: tokens === null ? 0 : this.tpm.waitMs(tokens, nowMono),
      concurrencyFull: slot && this.#full(),
    };
  }

  place(): void {
    this.inFlight++;
    this.#placed++;
  }

  vacate(): void {
    this.inFlight--;
    this.#placed--;
  }

  book({ requests, tokens, slot }: CallWeight, nowMono: number): Counted {
    if (slot) this.inFlight++;
    return {
      counters: this,
      rpmEntry: this.rpm.book(requests, nowMono),
      tpmEntry: this.tpm.book(tokens ?? 0, nowMono),
    };
  }

  /** A call with a slot has ended, or its client has left. */
  freeSlot(): void {
    if (this.inFlight > 0) this.inFlight--;
  }

  /** Ends a call whose slot is already freed: `actual` tokens replace the estimate (contract: limits/tpm-settled). */
  end({ rpmEntry, tpmEntry }: Counted, { weight, actual, undone }: EndedWeight, nowMono: number): void {
    if (undone) this.rpm.giveBack(rpmEntry, weight.requests, nowMono);
    const estimate = weight.tokens;
    if (estimate === null) return;
    if (actual < estimate) this.tpm.giveBack(tpmEntry, estimate - actual, nowMono);
    else if (actual > estimate) this.tpm.book(actual - estimate, nowMono);
  }

  /** What counts against the limits now. */
  use(nowMono: number): LimitUse {
    const requests = this.rpm.totalAt(nowMono) + this.#placed;
    return { requests, tokens: this.tpm.totalAt(nowMono), atOnce: this.inFlight };
  }

  numbers(nowMono: number): LimitNumbers {
    const numbersOf = (window: SlidingWindow) => {
      const { limit } = window;
      return limit === null ? null : { limit, remaining: Math.max(0, limit - window.totalAt(nowMono)) };
    };
    return { requests: numbersOf(this.rpm), tokens: numbersOf(this.tpm) };
  }

  idle(nowMono: number): boolean {
    return this.inFlight === 0 && this.rpm.totalAt(nowMono) === 0 && this.tpm.totalAt(nowMono) === 0;
  }

  /** ms until one more request fits in addition to those with a place, which all stay in the window longer. */
  #rpmMs(nowMono: number): number {
    const { limit } = this.rpm;
    if (limit !== null && this.#placed >= limit) return WINDOW_MS;
    return this.rpm.waitMs(this.#placed + 1, nowMono);
  }

  #full(): boolean {
    const most = this.#limits.concurrency;
    return most !== null && this.inFlight >= most;
  }
}

/** The counters of all keys and workspaces that this process serves. */
export class LimitBook {
  readonly #counters = new Map<string, Counters>();
  readonly #past = new Map<string, PastCall[]>();

  /** The counters of a key or workspace with its current limits. */
  of(id: string, limits: StoredLimits): Counters {
    let counters = this.#counters.get(id);
    if (!counters) {
      counters = new Counters();
      this.#counters.set(id, counters);
    }
    counters.adopt(limits);
    if (this.#past.size > 0) this.#bookPast(id, counters);
    return counters;
  }

  /** null: nothing counts. */
  usageOf(id: string, nowMono: number): LimitUse | null {
    return this.#counters.get(id)?.use(nowMono) ?? null;
  }

  /** Remembers a call of an earlier life of this process until its limits are known. */
  remember(id: string, call: PastCall): void {
    const list = this.#past.get(id) ?? [];
    list.push(call);
    this.#past.set(id, list);
  }

  /** Drops counters that count nothing, and calls that have left the window. */
  sweep(nowMono: number): void {
    for (const [id, counters] of this.#counters) if (counters.idle(nowMono)) this.#counters.delete(id);
    for (const [id, list] of this.#past) {
      if (list.every((call) => call.atMono <= nowMono - WINDOW_MS)) this.#past.delete(id);
    }
  }

  /** Books the remembered calls of a key or workspace, once its limits are known. */
  #bookPast(id: string, counters: Counters): void {
    const list = this.#past.get(id) ?? [];
    this.#past.delete(id);
    for (const call of list.sort((a, b) => a.atMono - b.atMono)) {
      counters.rpm.book(1, call.atMono);
      counters.tpm.book(call.tokens, call.atMono);
    }
  }
}
