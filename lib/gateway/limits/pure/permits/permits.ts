import type { StoredLimits } from '#lib/core/facts/snapshot';
import { waitOf } from '#lib/gateway/limits/pure/decide-permits';
import { type LimitWaits, noWaits } from '#lib/gateway/limits/pure/limit-waits';
import type { LimitNumbers } from '#lib/gateway/limits/pure/numbers';
import {
  type Freed,
  permitMs,
  type RequestedSubject,
  type SubjectAnswer,
} from '#lib/gateway/limits/pure/permit-request';
import { Demand } from '#lib/gateway/limits/pure/permits/demand';
import type { Grant } from '#lib/gateway/limits/pure/permits/grant';
import { GrantBook } from '#lib/gateway/limits/pure/permits/grant-book';
import { Slots } from '#lib/gateway/limits/pure/permits/slots';

/** What a call takes of a key or workspace. */
export interface Take {
  readonly requests: 0 | 1;
  /** null: tokens do not count for it. */
  readonly tokens: number | null;
  readonly slot: boolean;
}

/** Where a call stands in a key or workspace, so that its end finds it again. */
export interface Held {
  readonly permits: Permits;
  request: Grant | null;
  tokens: Grant | null;
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
  /** When a call last asked for them: it may still wait for its verdict or its funds. */
  wantedMono = Number.NEGATIVE_INFINITY;
  readonly demand = new Demand();
  readonly slots = new Slots();
  readonly #grants: GrantBook;
  #known: (SubjectAnswer & { readonly atMono: number; readonly limits: StoredLimits }) | null = null;
  /** Below so many spare permits the next are asked for. */
  #low = { requests: 0, tokens: 0 };

  constructor(id: string, limits: StoredLimits, newId: () => string) {
    this.id = id;
    this.limits = limits;
    this.#grants = new GrantBook(newId);
  }

  /** Whether permits at hand cover a call. */
  covers({ requests, tokens, slot }: Take, nowMono: number): boolean {
    const { rpm, tpm, concurrency } = this.limits;
    if (requests > 0 && rpm !== null && !this.#grants.find('spareRequests', 1, nowMono)) return false;
    if (tokens !== null && tpm !== null && !this.#grants.find('spareTokens', tokens, nowMono)) return false;
    return !slot || concurrency === null || this.slots.spare > 0;
  }

  /** Takes a call out of the permits at hand, and beyond them what they do not cover. */
  take({ requests, tokens, slot }: Take, nowMono: number): Held {
    const held: Held = { permits: this, request: null, tokens: null, slot };
    if (requests > 0) {
      const from = this.#grants.find('spareRequests', requests, nowMono);
      if (from) from.spareRequests -= requests;
      held.request = this.#grants.use(from, requests, 0, nowMono);
    }
    if (tokens !== null) {
      const from = this.#grants.find('spareTokens', tokens, nowMono);
      if (from) from.spareTokens -= tokens;
      held.tokens = this.#grants.use(from, 0, tokens, nowMono);
    }
    if (slot) this.slots.enter();
    return held;
  }

  /** A call that the store admitted: what it takes stands in the entry of its permit request. */
  admitted({ requests, tokens, slot }: Take, grant: Grant): Held {
    grant.requests += requests;
    grant.tokens += tokens ?? 0;
    if (slot) {
      this.slots.held++;
      this.slots.enter();
    }
    const of = (counts: boolean) => (counts ? grant : null);
    return { permits: this, request: of(requests > 0), tokens: of(tokens !== null), slot };
  }

  /** Its call has ended, or its client has left. @returns within how many ms the store should hear of it, or null. */
  freeSlot(held: Held): number | null {
    if (!held.slot) return null;
    held.slot = false;
    return this.slots.leave(this.limits.concurrency, this.#known?.room.slots ?? null);
  }

  /** Gives a request back that was not used after all. */
  giveRequestBack(held: Held): void {
    if (held.request) this.#grants.lower(held.request, { requests: 1, tokens: 0 });
    held.request = null;
  }

  /**
   * The actual tokens of a call replace its estimate (contract: limits/tpm-settled).
   * @returns whether the store should hear of it at once: what was used beyond the estimate delays other requests, and
   * the waits that it names must know.
   */
  settleTokens(held: Held, estimate: number, actual: number, nowMono: number): boolean {
    if (!held.tokens) return false;
    if (actual > estimate) this.#grants.use(undefined, 0, actual - estimate, nowMono);
    else if (actual < estimate) this.#grants.lower(held.tokens, { requests: 0, tokens: estimate - actual });
    held.tokens = null;
    return actual > estimate && this.limits.tpm !== null;
  }

  /** A request that was taken more than `staleMs` ago counts as taken now: the body of its call takes long to arrive. */
  renewRequest(held: Held, staleMs: number, nowMono: number): void {
    if (!held.request || nowMono - held.request.usedMono < staleMs) return;
    this.giveRequestBack(held);
    held.request = this.#grants.use(undefined, 1, 0, nowMono);
  }

  /**
   * Whether the store would refuse a call as it did a moment ago, so that it need not be asked again.
   * @param retriesFull no more calls may try again for a slot, so that full slots refuse as well.
   */
  refuses(take: Take, retriesFull: boolean, nowMono: number): boolean {
    const known = this.#known;
    if (!known?.freed || known.limits !== this.limits) return false;
    const ageMs = nowMono - known.atMono;
    if (ageMs >= refusedMs(known.freed, this.limits)) return false;
    const { rpmMs, tpmMs, concurrencyFull } = this.waits(take, nowMono);
    return rpmMs > 0 || tpmMs > 0 || (concurrencyFull && retriesFull && ageMs < FULL_MS);
  }

  /** Whether it refuses a call by now, but has not been told when that ends. */
  vague(take: Take, nowMono: number): boolean {
    if (this.#known?.freed) return false;
    const { rpmMs, tpmMs } = this.waits(take, nowMono);
    return rpmMs > 0 || tpmMs > 0;
  }

  /** How a call stands against what the store told last. */
  waits({ requests, tokens, slot }: Take, nowMono: number): LimitWaits {
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
    if (requests > 0 && this.#grants.left('spareRequests', nowMono) < requests) return true;
    return tokens > 0 && this.#grants.left('spareTokens', nowMono) < tokens;
  }

  /** What is left of the limits, as far as this process knows. */
  remaining(nowMono: number): LimitNumbers {
    const room = this.#known?.room;
    const left = (limit: number | null, kind: 'requests' | 'tokens', spare: number) =>
      limit === null ? null : { limit, remaining: Math.max(0, (room?.[kind] ?? limit) + spare) };
    return {
      requests: left(this.limits.rpm, 'requests', this.#grants.left('spareRequests', nowMono)),
      tokens: left(this.limits.tpm, 'tokens', this.#grants.left('spareTokens', nowMono)),
    };
  }

  /** Whether the store has to hear of something. */
  hasNews(nowMono: number): boolean {
    return this.#grants.hasNews(nowMono) || this.slots.held !== this.slots.used;
  }

  /** What is told and asked now; it counts as told. */
  tell(nowMono: number): RequestedSubject {
    const { id, limits } = this;
    const { used, lowered } = this.#grants.news(nowMono);
    const slots = this.slots.keep(limits.concurrency, this.#known?.room.slots ?? null);
    const ahead = this.demand.ahead(nowMono);
    const lacking = (limit: number | null, wanted: number, field: 'spareRequests' | 'spareTokens') =>
      limit === null ? 0 : Math.max(0, wanted - this.#grants.left(field, nowMono));
    const want = {
      requests: lacking(limits.rpm, ahead.requests, 'spareRequests'),
      tokens: lacking(limits.tpm, ahead.tokens, 'spareTokens'),
      slots: limits.concurrency === null || ahead.requests === 0 ? 0 : this.slots.ahead(),
    };
    this.#low = { requests: 0, tokens: 0 };
    return { id, limits, slots, lowered, used, want };
  }

  /** Everything of the last 60 s, for a store that has lost it; permits at hand are void. */
  tellAll(nowMono: number): RequestedSubject {
    const { id, limits } = this;
    const used = this.#grants.all(nowMono);
    this.#known = null;
    this.#low = { requests: 0, tokens: 0 };
    this.slots.held = this.slots.used;
    const want = { requests: 0, tokens: 0, slots: 0 };
    return { id, limits, slots: this.slots.held, lowered: [], used, want };
  }

  /**
   * Takes in what the store answered.
   * @param grant the entry of the permit request, which already has what its calls took.
   * @param times `sentMono`: when it was sent. Permits live from then, so that they end here before they do there.
   */
  hear(
    told: RequestedSubject,
    answer: SubjectAnswer,
    grant: Grant,
    { sentMono, nowMono }: { readonly sentMono: number; readonly nowMono: number },
  ): void {
    this.#known = { ...answer, atMono: sentMono, limits: told.limits };
    const { requests, tokens, slots } = answer.granted;
    this.slots.held += slots;
    grant.spareRequests = requests;
    grant.spareTokens = tokens;
    grant.spareUntilMono = sentMono + permitMs;
    grant.usedMono = nowMono;
    grant.sent = true;
    this.#grants.add(grant);
    this.#low = { requests: Math.ceil(requests / 3), tokens: Math.ceil(tokens / 3) };
  }

  /** A permit request was not answered: its entry must weigh nothing then, and its news are told again. */
  unheard(told: RequestedSubject, id: string, nowMono: number): void {
    this.#grants.untold(told.used, told.lowered, nowMono);
    this.#grants.disown(id, nowMono);
  }

  idle(nowMono: number): boolean {
    return this.slots.used === 0 && this.slots.held === 0 && this.#grants.empty(nowMono);
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
