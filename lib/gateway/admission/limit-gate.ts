import { isRefusal, type Refusal } from '#lib/core/errors';
import type { KeySnapshot, StoredLimits } from '#lib/core/facts/snapshot';
import type { Claim, ClaimRequest } from '#lib/gateway/admission/claim';
import type { Lease } from '#lib/gateway/admission/lease-book';
import type { OpenCalls, ShareUse } from '#lib/gateway/admission/open-calls';
import { checkLimits, decideLimits } from '#lib/gateway/admission/pure/decide';
import type { Counters, LimitBook } from '#lib/gateway/limits/pure/limit-book';
import { type CallWeight, tighter } from '#lib/gateway/limits/pure/limits';
import type { SharedClaim, SharedLimits } from '#lib/gateway/limits/shared-limits';
import type { Clock } from '#lib/platform/clock';

/**
 * What pays for a call: leases of this process, a row in PostgreSQL (with a share: one that would be there if the
 * database answered), or nothing is to pay.
 */
export type Means =
  | { readonly funding: 'lease'; readonly leases: readonly Lease[] }
  | { readonly funding: 'row'; readonly share: ShareUse | null }
  | { readonly funding: 'none' };

export const free: Means = { funding: 'none' };
export const byRow: Means = { funding: 'row', share: null };

type Decide = (request: ClaimRequest) => Claim | Refusal | Promise<Claim | Refusal>;

/** What a place holds of the limits until the claim. */
const placeWeight: CallWeight = { requests: 1, tokens: null, slot: true };

/**
 * Steps 13 and 14 of admission (contract: admission/order); then everything is booked at once. Limits that processes
 * share are asked before the money is, but a refusal for money (steps 11 and 12) is the one that is answered.
 */
export class LimitGate {
  readonly #clock: Clock;
  readonly #limits: LimitBook;
  readonly #calls: OpenCalls;
  readonly #shared: SharedLimits | null;

  /** @param shared limits that other processes share; null: only this process counts. */
  constructor(clock: Clock, limits: LimitBook, calls: OpenCalls, shared: SharedLimits | null = null) {
    this.#clock = clock;
    this.#limits = limits;
    this.#calls = calls;
    this.#shared = shared;
  }

  /** Asks the shared limits, if there are any; then decides. What they gave to a call that is refused goes back. */
  afterShared(request: ClaimRequest, decide: Decide): Claim | Refusal | Promise<Claim | Refusal> {
    const { snapshot } = request;
    if (!this.#shared || checkLimits(snapshot)) return decide(request);
    const asked = this.#shared.claim(weightToCheck(request), snapshot.key, snapshot.workspace);
    return after(asked, (shared) => {
      const decided = decide({ ...request, shared });
      if (!(decided instanceof Promise)) return kept(shared, decided);
      return decided.then(
        (late) => kept(shared, late),
        (error: unknown) => {
          shared.end(0, true);
          throw error;
        },
      );
    });
  }

  /** Holds an RPM unit and the slots for a call. @returns a refusal, with nothing held; or null. */
  place(callId: string, snapshot: KeySnapshot): Refusal | null | Promise<Refusal | null> {
    const wrong = checkLimits(snapshot);
    if (wrong || !this.#shared) return wrong ?? this.#place(callId, snapshot);
    const asked = this.#shared.claim(placeWeight, snapshot.key, snapshot.workspace);
    return after(asked, (shared) => kept(shared, this.#place(callId, snapshot, shared)));
  }

  #place(callId: string, snapshot: KeySnapshot, shared?: SharedClaim): Refusal | null {
    const refusedThere = refusedBy(shared);
    if (refusedThere) return refusedThere;
    const counters = this.#countersOf(snapshot, shared);
    const refused = check(counters, placeWeight, this.#clock.mono());
    if (refused) return refused;
    shared?.place();
    this.#calls.place(callId, { counters, shared: shared ?? null });
    return null;
  }

  /** @returns a refusal, with nothing booked; or the claim. */
  admit(request: ClaimRequest, means: Means): Claim | Refusal {
    const { snapshot, holdNano, shared } = request;
    const wrong = checkLimits(snapshot) ?? refusedBy(shared);
    if (wrong) return wrong;
    const nowMono = this.#clock.mono();
    const counters = this.#countersOf(snapshot, shared);
    const refused = check(counters, weightToCheck(request), nowMono);
    if (refused) return refused;
    const placed = request.placed ? this.#calls.takeOver(request.callId) : null;
    shared?.admit();
    placed?.takeOver();
    const weight = weightOf(request);
    const [key, workspace] = counters;
    const counted = [key.book(weight, nowMono), workspace.book(weight, nowMono)];
    const claim: Claim = {
      callId: request.callId,
      workspaceId: snapshot.workspace.id,
      keyId: snapshot.key.id,
      admittedAtMs: request.atMs,
      holdNano,
      tokens: request.tokens,
      funding: means.funding,
      simulated: request.simulated === true,
      numbers: shared ? shared.numbers() : tighter(key.numbers(nowMono), workspace.numbers(nowMono)),
    };
    this.#calls.open(
      {
        claim,
        weight,
        counted,
        shared: shared ? (placed ? [shared, placed] : [shared]) : none,
        leases: means.funding === 'lease' ? means.leases : none,
        share: means.funding === 'row' ? means.share : null,
        holdNano,
        left: false,
        posted: false,
      },
      nowMono,
    );
    return claim;
  }

  /** With the limits that bind this process: all, unless a store decides by them. */
  #countersOf({ key, workspace }: KeySnapshot, shared?: SharedClaim): readonly [Counters, Counters] {
    const bounds = (limits: StoredLimits) => shared?.bounds(limits) ?? limits;
    return [
      this.#limits.of(key.id, bounds(key.limits)),
      this.#limits.of(workspace.id, bounds(workspace.limits)),
    ];
  }
}

/** Gives back what the shared limits gave to a call that is refused. */
function kept<Decided extends Claim | Refusal | null>(shared: SharedClaim, decided: Decided): Decided {
  if (isRefusal(decided)) shared.end(0, true);
  return decided;
}

const none: readonly never[] = [];

function weightOf({ need, tokens, inSession }: ClaimRequest): CallWeight {
  const slot = need !== 'models' && inSession !== true;
  return { requests: 1, tokens: need === 'generate' ? tokens : null, slot };
}

/** What is checked at the claim: of a call with a place only its tokens. */
function weightToCheck(request: ClaimRequest): CallWeight {
  const weight = weightOf(request);
  return request.placed ? { ...weight, requests: 0, slot: false } : weight;
}

function check(
  [key, workspace]: readonly [Counters, Counters],
  weight: CallWeight,
  nowMono: number,
): Refusal | null {
  if (key.fits(weight, nowMono) && workspace.fits(weight, nowMono)) return null;
  return decideLimits(key.waits(weight, nowMono), workspace.waits(weight, nowMono));
}

function refusedBy(shared: SharedClaim | undefined): Refusal | null {
  return shared?.answer.kind === 'refused' ? decideLimits(...shared.answer.waits) : null;
}

/** `next` now if the value is there, so that no promise is made without need; else once it is. */
function after<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
