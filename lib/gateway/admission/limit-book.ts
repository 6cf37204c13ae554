import type { StoredLimits } from '#lib/core/facts/snapshot';
import type { ClaimRequest } from '#lib/gateway/admission/claim';
import { type LimitWaits, noWaits } from '#lib/gateway/limits/pure/limit-waits';
import { type LimitNumber, type LimitNumbers, tighter } from '#lib/gateway/limits/pure/numbers';
import { SlidingWindow, WINDOW_MS } from '#lib/gateway/limits/pure/window';

type Need = ClaimRequest['need'];

/** A call of the last minute that an earlier process admitted, to rebuild the windows at start. Monotonic ms. */
interface Seed {
  readonly atMono: number;
  readonly tokens: number;
}

/** What a claim booked, so that its end finds it again. */
export interface Booked {
  rpmSlot: number;
  tpmSlot: number;
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
  #limits: StoredLimits | null = null;

  /** Takes changed limits; a null one is no limit. */
  adopt(limits: StoredLimits): void {
    if (limits === this.#limits) return;
    this.#limits = limits;
    this.rpm.setLimit(limits.rpm);
    this.tpm.setLimit(limits.tpm);
  }

  /** Whether a claim passes all limits that its need asks for. */
  fits(need: Need, tokens: number, nowMono: number): boolean {
    if (this.#placed > 0 ? this.#rpmMs(nowMono) > 0 : !this.rpm.fits(1, nowMono)) return false;
    if (need === 'models') return true;
    if (this.#full()) return false;
    return need === 'rate' || this.tpm.fits(tokens, nowMono);
  }

  /** The same question with the waits, for the refusal. */
  waits(need: Need, tokens: number, nowMono: number): LimitWaits {
    const limits = this.#limits;
    if (!limits) return noWaits;
    return {
      limits,
      rpmMs: this.#rpmMs(nowMono),
      tpmMs: need === 'generate' ? this.tpm.waitMs(tokens, nowMono) : 0,
      concurrencyFull: need !== 'models' && this.#full(),
    };
  }

  /** Whether the tokens of a call with a place fit the limit. */
  fitsTokens(tokens: number, nowMono: number): boolean {
    return this.tpm.fits(tokens, nowMono);
  }

  tokenWaits(tokens: number, nowMono: number): LimitWaits {
    const limits = this.#limits;
    if (!limits) return noWaits;
    return { limits, rpmMs: 0, tpmMs: this.tpm.waitMs(tokens, nowMono), concurrencyFull: false };
  }

  place(): void {
    this.inFlight++;
    this.#placed++;
  }

  vacate(): void {
    this.inFlight--;
    this.#placed--;
  }

  book(need: Need, tokens: number, nowMono: number): Booked {
    if (need !== 'models') this.inFlight++;
    return {
      rpmSlot: this.rpm.book(1, nowMono),
      tpmSlot: need === 'generate' ? this.tpm.book(tokens, nowMono) : -1,
    };
  }

  /** The claim's call has ended, or its client has left. */
  freeSlot(need: Need): void {
    if (need !== 'models' && this.inFlight > 0) this.inFlight--;
  }

  /**
   * Ends a claim whose slot is already freed: `actual` tokens replace the estimate (contract: limits/tpm-settled).
   */
  end(booked: Booked, { need, estimate, actual, undone }: EndedClaim, nowMono: number): void {
    if (undone) this.rpm.giveBack(booked.rpmSlot, 1, nowMono);
    if (need !== 'generate') return;
    if (actual < estimate) this.tpm.giveBack(booked.tpmSlot, estimate - actual, nowMono);
    else if (actual > estimate) this.tpm.book(actual - estimate, nowMono);
  }

  /** What counts against the limits now. */
  use(nowMono: number): LimitUse {
    const requests = this.rpm.totalAt(nowMono) + this.#placed;
    return { requests, tokens: this.tpm.totalAt(nowMono), atOnce: this.inFlight };
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
    const most = this.#limits?.concurrency ?? null;
    return most !== null && this.inFlight >= most;
  }
}

/** How a claim ended, for key and workspace alike. */
interface EndedClaim {
  readonly need: Need;
  /** Tokens that were booked at admission. */
  readonly estimate: number;
  /** Tokens that count in the end. */
  readonly actual: number;
  /** The call never started: its request does not count either. */
  readonly undone: boolean;
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

/** The counters of all keys and workspaces that this process serves. */
export class LimitBook {
  readonly #counters = new Map<string, Counters>();
  readonly #seeds = new Map<string, Seed[]>();

  /** The counters of a key or workspace with its current limits. */
  of(id: string, limits: StoredLimits): Counters {
    let counters = this.#counters.get(id);
    if (!counters) {
      counters = new Counters();
      this.#counters.set(id, counters);
    }
    counters.adopt(limits);
    if (this.#seeds.size > 0) this.#sow(id, counters);
    return counters;
  }

  /** null: nothing counts. */
  useOf(id: string, nowMono: number): LimitUse | null {
    return this.#counters.get(id)?.use(nowMono) ?? null;
  }

  /** Remembers a call of an earlier life of this process until its limits are known. */
  seed(id: string, call: Seed): void {
    const list = this.#seeds.get(id) ?? [];
    list.push(call);
    this.#seeds.set(id, list);
  }

  /** Drops counters that count nothing, and calls that have left the window. */
  sweep(nowMono: number): void {
    for (const [id, counters] of this.#counters) if (counters.idle(nowMono)) this.#counters.delete(id);
    for (const [id, list] of this.#seeds) {
      if (list.every((call) => call.atMono <= nowMono - WINDOW_MS)) this.#seeds.delete(id);
    }
  }

  /** Books the seeds of a key or workspace, once its limits are known. */
  #sow(id: string, counters: Counters): void {
    const list = this.#seeds.get(id);
    if (!list) return;
    this.#seeds.delete(id);
    for (const call of list.sort((a, b) => a.atMono - b.atMono)) {
      counters.rpm.book(1, call.atMono);
      counters.tpm.book(call.tokens, call.atMono);
    }
  }
}

/** Limit and remainder of the tighter of key and workspace, by kind (contract: limits/headers). */
export function numbersOf(key: Counters, workspace: Counters, nowMono: number): LimitNumbers {
  return {
    requests: tighter(numbers(key.rpm, nowMono), numbers(workspace.rpm, nowMono)),
    tokens: tighter(numbers(key.tpm, nowMono), numbers(workspace.tpm, nowMono)),
  };
}

function numbers(window: SlidingWindow, nowMono: number): LimitNumber {
  const { limit } = window;
  return limit === null ? null : { limit, remaining: Math.max(0, limit - window.totalAt(nowMono)) };
}
