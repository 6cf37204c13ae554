import type { StoredLimits } from '#lib/core/facts/snapshot';
import { type Entry, EntryBook } from '#lib/gateway/limits/pure/entries';
import {
  type CallWeight,
  type EndedWeight,
  type LimitNumbers,
  type LimitWaits,
  noWaits,
} from '#lib/gateway/limits/pure/limits';
import {
  type Freed,
  permitMs,
  type RequestedSubject,
  type SubjectAnswer,
  waitOf,
} from '#lib/gateway/limits/pure/permit-request';

/** What a call has of the permits of its key or its workspace, so that its end finds it again. */
export interface Held {
  readonly permits: Permits;
  request: Entry | null;
  tokens: Entry | null;
  slot: boolean;
}

/** A refusal of the store is good for so long, at most and at least: then it is asked again. ms. */
const REFUSED_MS = 250;
const REFUSED_AT_LEAST_MS = 25;
/** The same for a full concurrency limit, which any end of a call may free. */
const FULL_MS = 50;

/** What this process holds of the limits of one key or workspace. Monotonic ms. */
export class Permits {
  readonly id: string;
  limits: StoredLimits;
  /** When a call last asked for them: it may still wait for its answer or its funds. */
  requestedMono = Number.NEGATIVE_INFINITY;
  reportedMono = Number.NEGATIVE_INFINITY;
  readonly demand = new Demand();
  readonly slots = new Slots();
  readonly #entries: EntryBook;
  #known: (SubjectAnswer & { readonly atMono: number; readonly limits: StoredLimits }) | null = null;
  /** Below so many spare permits the next are asked for. */
  #low = { requests: 0, tokens: 0 };

  constructor(id: string, limits: StoredLimits, newId: () => string) {
    this.id = id;
    this.limits = limits;
    this.#entries = new EntryBook(newId);
  }

  /** Whether permits at hand cover a call. */
  covers({ requests, tokens, slot }: CallWeight, nowMono: number): boolean {
    const { rpm, tpm, concurrency } = this.limits;
    if (requests > 0 && rpm !== null && !this.#entries.find('spareRequests', 1, nowMono)) return false;
    if (tokens !== null && tpm !== null && !this.#entries.find('spareTokens', tokens, nowMono)) return false;
    return !slot || concurrency === null || this.slots.spare > 0;
  }

  /** Takes a call out of the permits at hand, and beyond them what they do not cover. */
  take({ requests, tokens, slot }: CallWeight, nowMono: number): Held {
    const held: Held = { permits: this, request: null, tokens: null, slot };
    if (requests > 0) {
      const from = this.#entries.find('spareRequests', requests, nowMono);
      if (from) from.spareRequests -= requests;
      held.request = this.#entries.use(from, requests, 0, nowMono);
    }
    if (tokens !== null) {
      const from = this.#entries.find('spareTokens', tokens, nowMono);
      if (from) from.spareTokens -= tokens;
      held.tokens = this.#entries.use(from, 0, tokens, nowMono);
    }
    if (slot) this.slots.enter();
    return held;
  }

  /** A call that the store admitted: what it takes is in the entry of its permit request. */
  admitted({ requests, tokens, slot }: CallWeight, entry: Entry): Held {
    entry.requests += requests;
    entry.tokens += tokens ?? 0;
    if (slot) {
      this.slots.held++;
      this.slots.enter();
    }
    const of = (counts: boolean) => (counts ? entry : null);
    return { permits: this, request: of(requests > 0), tokens: of(tokens !== null), slot };
  }

  /** Its call has ended, or its client has left. @returns within how many ms that should be reported; null: no hurry. */
  freeSlot(held: Held): number | null {
    if (!held.slot) return null;
    held.slot = false;
    return this.slots.leave(this.limits.concurrency, this.#known?.room.slots ?? null);
  }

  /**
   * Its call has ended: `actual` tokens replace the estimate (contract: limits/tpm-settled).
   * @returns whether that should be reported at once: what was used beyond the estimate delays other requests, and the
   * waits that the store names must include it.
   */
  end(held: Held, { weight, actual, undone }: EndedWeight, nowMono: number): boolean {
    if (undone) this.#giveRequestBack(held);
    if (!held.tokens) return false;
    const estimate = weight.tokens ?? 0;
    if (actual > estimate) this.#entries.use(undefined, 0, actual - estimate, nowMono);
    else if (actual < estimate) this.#entries.lower(held.tokens, { requests: 0, tokens: estimate - actual });
    held.tokens = null;
    return actual > estimate && this.limits.tpm !== null;
  }

  /** A request that was taken more than `staleMs` ago counts as taken now: the body of its call takes long to arrive. */
  renewRequest(held: Held, staleMs: number, nowMono: number): void {
    if (!held.request || nowMono - held.request.usedMono < staleMs) return;
    this.#giveRequestBack(held);
    held.request = this.#entries.use(undefined, 1, 0, nowMono);
  }

  #giveRequestBack(held: Held): void {
    if (held.request) this.#entries.lower(held.request, { requests: 1, tokens: 0 });
    held.request = null;
  }

  /**
   * Whether the store would refuse a call as it did a moment ago, so that it need not be asked again.
   * @param retriesFull no more calls may try again for a slot, so that full slots refuse as well.
   */
  refuses(weight: CallWeight, retriesFull: boolean, nowMono: number): boolean {
    const known = this.#known;
    if (!known?.freed || known.limits !== this.limits) return false;
    const ageMs = nowMono - known.atMono;
    if (ageMs >= refusedMs(known.freed, this.limits)) return false;
    const { rpmMs, tpmMs, concurrencyFull } = this.waits(weight, nowMono);
    return rpmMs > 0 || tpmMs > 0 || (concurrencyFull && retriesFull && ageMs < FULL_MS);
  }

  /** Whether it refuses a call by now, but does not know when that ends. */
  vague(weight: CallWeight, nowMono: number): boolean {
    if (this.#known?.freed) return false;
    const { rpmMs, tpmMs } = this.waits(weight, nowMono);
    return rpmMs > 0 || tpmMs > 0;
  }

  /** How long a call has to wait, by the store's last answer. */
  waits({ requests, tokens, slot }: CallWeight, nowMono: number): LimitWaits {
    const known = this.#known;
    if (!known) return noWaits;
    const { limits } = known;
    const passedMs = nowMono - known.atMono;
    const wait = (kind: 'requests' | 'tokens', weight: number, limit: number | null) => {
      const ms = waitOf(kind, weight, limit, known);
      return ms > 0 ? Math.max(1, ms - passedMs) : 0;
    };
    return {
      limits,
      rpmMs: requests > 0 ? wait('requests', requests, limits.rpm) : 0,
      tpmMs: tokens === null ? 0 : wait('tokens', tokens, limits.tpm),
      concurrencyFull: slot && known.room.slots !== null && known.room.slots <= 0,
    };
  }

  /** Whether others hold slots of the limit, one of which may come back any moment. */
  get sharesSlots(): boolean {
    return this.limits.concurrency !== null && this.slots.held < this.limits.concurrency;
  }

  /** Whether permits are running out, so that the next are better asked for before a call waits for them. */
  low(nowMono: number): boolean {
    const { requests, tokens } = this.#low;
    if (requests > 0 && this.#entries.left('spareRequests', nowMono) < requests) return true;
    return tokens > 0 && this.#entries.left('spareTokens', nowMono) < tokens;
  }

  /** What is left of the limits, as far as this process knows. */
  numbers(nowMono: number): LimitNumbers {
    const room = this.#known?.room;
    const left = (limit: number | null, kind: 'requests' | 'tokens', spare: number) =>
      limit === null ? null : { limit, remaining: Math.max(0, (room?.[kind] ?? limit) + spare) };
    return {
      requests: left(this.limits.rpm, 'requests', this.#entries.left('spareRequests', nowMono)),
      tokens: left(this.limits.tpm, 'tokens', this.#entries.left('spareTokens', nowMono)),
    };
  }

  /** Whether there is something to report to the store. */
  hasChanges(nowMono: number): boolean {
    return this.#entries.hasChanges(nowMono) || this.slots.held !== this.slots.used;
  }

  /** Whether it had permits at hand when it was last looked for changes: once they expire, that is reported. */
  get hasSpare(): boolean {
    return this.#entries.hasSpare;
  }

  /** What is reported and requested now; it counts as reported. */
  report(nowMono: number): RequestedSubject {
    const { id, limits } = this;
    const { used, lowered } = this.#entries.changes(nowMono);
    const slots = this.slots.keep(limits.concurrency, this.#known?.room.slots ?? null);
    const ahead = this.demand.ahead(nowMono);
    const lacking = (limit: number | null, request: number, field: 'spareRequests' | 'spareTokens') =>
      limit === null ? 0 : Math.max(0, request - this.#entries.left(field, nowMono));
    const want = {
      requests: lacking(limits.rpm, ahead.requests, 'spareRequests'),
      tokens: lacking(limits.tpm, ahead.tokens, 'spareTokens'),
      slots: limits.concurrency === null || ahead.requests === 0 ? 0 : this.slots.ahead(),
    };
    this.#low = { requests: 0, tokens: 0 };
    return { id, limits, slots, lowered, used, want };
  }

  /** Everything of the last 60 s, for a store that has lost it; permits at hand are void. */
  reportAll(nowMono: number): RequestedSubject {
    const { id, limits } = this;
    const used = this.#entries.all(nowMono);
    this.#known = null;
    this.#low = { requests: 0, tokens: 0 };
    this.slots.held = this.slots.used;
    const want = { requests: 0, tokens: 0, slots: 0 };
    return { id, limits, slots: this.slots.held, lowered: [], used, want };
  }

  /**
   * Takes in what the store answered.
   * @param entry the entry of the permit request, which already has what its calls took.
   * @param times `sentMono`: when it was sent. Permits live from then, so that they end here before they do there.
   */
  takeAnswer(
    reported: RequestedSubject,
    answer: SubjectAnswer,
    entry: Entry,
    { sentMono, nowMono }: { readonly sentMono: number; readonly nowMono: number },
  ): void {
    this.#known = { ...answer, atMono: sentMono, limits: reported.limits };
    const { requests, tokens, slots } = answer.granted;
    this.slots.held += slots;
    entry.spareRequests = requests;
    entry.spareTokens = tokens;
    entry.spareUntilMono = sentMono + permitMs;
    entry.usedMono = nowMono;
    entry.sent = true;
    this.#entries.add(entry);
    this.#low = { requests: Math.ceil(requests / 3), tokens: Math.ceil(tokens / 3) };
  }

  /** A permit request was not answered: its entry must weigh nothing then, and what it reported is reported again. */
  unanswered(reported: RequestedSubject, id: string, nowMono: number): void {
    this.#entries.reportAgain(reported.used, reported.lowered, nowMono);
    this.#entries.disown(id, nowMono);
  }

  idle(nowMono: number): boolean {
    return this.slots.used === 0 && this.slots.held === 0 && this.#entries.empty(nowMono);
  }
}

/**
 * For how long a refusal is good, ms: `REFUSED_MS` while the window empties as evenly as the limit fills it, and less
 * when much more leaves it within the next second, as after a burst a minute ago.
 */
function refusedMs(freed: readonly Freed[], limits: StoredLimits): number {
  const [seconds, requests, tokens] = freed[0] ?? [0, 0, 0];
  if (seconds !== 1) return REFUSED_MS;
  const share = (limit: number | null, leaving: number) =>
    limit === null || leaving === 0 ? 1 : Math.max(1, limit / 60) / leaving;
  const least = Math.min(share(limits.rpm, requests), share(limits.tpm, tokens));
  return Math.max(REFUSED_AT_LEAST_MS, Math.min(1, least) * REFUSED_MS);
}

/** Up to this many calls at once, a slot goes back as soon as its call has ended. */
const FEW = 10;
/** Of more than that, a freed slot goes back within this when hardly any are left; ms. */
const SCARCE_MS = 10;

function isScarce(most: number | null, room: number | null): boolean {
  return most !== null && (most <= FEW || (room !== null && room <= most / 4));
}

/** The slots of one key or workspace in this process. */
class Slots {
  /** By running calls. */
  used = 0;
  /** What the store counts as this process's; less than `used` where nothing was asked for. */
  held = 0;
  #peak = 0;
  #peakBefore = 0;

  get spare(): number {
    return Math.max(0, this.held - this.used);
  }

  enter(): void {
    this.used++;
    this.#peak = Math.max(this.#peak, this.used);
  }

  /**
   * @param room slots that the store had left.
   * @returns within how many ms that should be reported, because others may be waiting for it; null: no hurry.
   */
  leave(most: number | null, room: number | null): number | null {
    this.used--;
    if (!isScarce(most, room) || this.spare === 0) return null;
    return (most ?? 0) <= FEW ? 0 : SCARCE_MS;
  }

  /** Drops spare slots beyond the recent peak, and all of them where slots are scarce. @returns what is held now. */
  keep(most: number | null, room: number | null): number {
    const peak = Math.max(this.#peak, this.#peakBefore);
    this.#peakBefore = this.#peak;
    this.#peak = this.used;
    const ahead = isScarce(most, room) ? 0 : peak - this.used;
    this.held = this.used + Math.min(this.spare, ahead);
    return this.held;
  }

  /** How many more are worth asking for, in case that more calls come. */
  ahead(): number {
    return this.spare > 0 ? 0 : Math.ceil(this.used / 4) + 1;
  }
}

/** Below this many calls a second permits are not asked for in advance: each call asks for itself. */
const BUSY = 4;
/** For how long permits are asked in advance, seconds; half of their life, so that most are used. */
const AHEAD = 0.4;

/** How much a key or workspace is used in this process: counts by the second, monotonic ms. */
class Demand {
  #second = 0;
  #calls = 0;
  #tokens = 0;
  #callsBefore = 0;
  #tokensBefore = 0;

  note(tokens: number, nowMono: number): void {
    this.#turn(nowMono);
    this.#calls++;
    this.#tokens += tokens;
  }

  /** What is worth asking for in advance, whole; 0 while it is quiet. */
  ahead(nowMono: number): { readonly requests: number; readonly tokens: number } {
    this.#turn(nowMono);
    // A sliding rate: the second before counts by the part of this one that has not passed.
    const part = 1 - ((nowMono / 1000) % 1);
    const calls = this.#calls + this.#callsBefore * part;
    if (calls < BUSY) return quiet;
    const tokens = this.#tokens + this.#tokensBefore * part;
    return { requests: Math.ceil(calls * AHEAD), tokens: Math.ceil(tokens * AHEAD) };
  }

  #turn(nowMono: number): void {
    const second = Math.floor(nowMono / 1000);
    if (second === this.#second) return;
    const next = second === this.#second + 1;
    this.#callsBefore = next ? this.#calls : 0;
    this.#tokensBefore = next ? this.#tokens : 0;
    this.#second = second;
    this.#calls = 0;
    this.#tokens = 0;
  }
}

const quiet = { requests: 0, tokens: 0 };
