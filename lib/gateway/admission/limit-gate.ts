import { isRefusal, type Refusal } from '#lib/core/errors';
import type { KeySnapshot, StoredLimits } from '#lib/core/facts/snapshot';
import { type BoundTag, hasTagCaps, hasTagLimits } from '#lib/core/facts/tags';
import type { Claim, ClaimRequest } from '#lib/gateway/admission/claim';
import type { Lease } from '#lib/gateway/admission/lease-book';
import type { CappedTag } from '#lib/gateway/admission/money-store';
import type { OpenCalls, ShareUse } from '#lib/gateway/admission/open-calls';
import { checkLimits, decideLimits, decideTagLimits } from '#lib/gateway/admission/pure/decide';
import type { Counters, LimitBook } from '#lib/gateway/limits/pure/limit-book';
import { type CallWeight, noWaits, tighter } from '#lib/gateway/limits/pure/limits';
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
    const asked = this.#shared.claim(weightToCheck(request), snapshot.workspace.id, [
      snapshot.key,
      snapshot.workspace,
    ]);
    return after(asked, (shared) => {
      const tags = limitedTags(request);
      if (refusedBy(shared)) return request.begun ? decide(request) : decideWith(request, [shared], decide);
      if (tags === none) return decideWith(request, [shared], decide);
      return after(this.#askForTags(request, tags), (sharedTags) => {
        const counts = sharedTags && !(request.begun && refusedBy(sharedTags, tags));
        return decideWith(request, counts ? [shared, sharedTags] : [shared], decide);
      });
    });
  }

  /** Tags have no place: their requests count at the claim. */
  #askForTags(
    request: ClaimRequest,
    tags: readonly BoundTag[],
  ): SharedClaim | Promise<SharedClaim> | undefined {
    return this.#shared?.claim(weightOf(request), request.snapshot.workspace.id, tags);
  }

  /** Holds an RPM unit and the slots for a call. @returns a refusal, with nothing held; or null. */
  place(callId: string, snapshot: KeySnapshot): Refusal | null | Promise<Refusal | null> {
    const wrong = checkLimits(snapshot);
    if (wrong || !this.#shared) return wrong ?? this.#place(callId, snapshot);
    const asked = this.#shared.claim(placeWeight, snapshot.workspace.id, [snapshot.key, snapshot.workspace]);
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
    const { snapshot, holdNano, shared, sharedTags } = request;
    const tags = limitedTags(request);
    const wrong = checkLimits(snapshot) ?? refusedBy(shared) ?? refusedBy(sharedTags, tags);
    if (wrong) return wrong;
    const nowMono = this.#clock.mono();
    const counters = this.#countersOf(snapshot, shared);
    const weight = weightOf(request);
    const ofTags = tags.map((tag) => this.#limits.of(tag.id, sharedTags?.bounds(tag.limits) ?? tag.limits));
    const refused =
      check(counters, weightToCheck(request), nowMono) ?? checkTags(ofTags, tags, weight, nowMono);
    if (refused && !request.begun) return refused;
    const placed = request.placed ? this.#calls.takeOver(request.callId) : null;
    shared?.admit();
    sharedTags?.admit();
    placed?.takeOver();
    const [key, workspace] = counters;
    const counted = [key.book(weight, nowMono), workspace.book(weight, nowMono)];
    for (const one of ofTags) counted.push(one.book(weight, nowMono));
    const capped = cappedTags(request);
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
      ...(capped && { tags: capped }),
    };
    this.#calls.open(
      {
        claim,
        weight,
        counted,
        shared: shared ? [shared, placed, sharedTags].filter((one) => one != null) : none,
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

/** Key and workspace of a call before its tags, whose waits it does not know yet (contract: tags/rates). */
function decideWith(
  request: ClaimRequest,
  asked: readonly [shared: SharedClaim, sharedTags?: SharedClaim],
  decide: Decide,
): Claim | Refusal | Promise<Claim | Refusal> {
  const [shared, sharedTags] = asked;
  const end = () => {
    shared.end(0, true);
    sharedTags?.end(0, true);
  };
  const keep = (decided: Claim | Refusal) => {
    if (isRefusal(decided)) end();
    return decided;
  };
  const decided = decide({ ...request, shared, ...(sharedTags && { sharedTags }) });
  if (!(decided instanceof Promise)) return keep(decided);
  return decided.then(keep, (error: unknown) => {
    end();
    throw error;
  });
}

/** The tags of a call whose requests or tokens are limited. */
function limitedTags({ tags }: ClaimRequest): readonly BoundTag[] {
  return tags?.some(hasTagLimits) ? tags.filter(hasTagLimits) : none;
}

/** The tags of a call whose spend is bounded, if it costs anything; null: none. */
export function cappedTags({ tags, need }: ClaimRequest): readonly CappedTag[] | null {
  if (need !== 'generate' || !tags?.some(hasTagCaps)) return null;
  return tags.filter(hasTagCaps);
}

function checkTags(
  counters: readonly Counters[],
  tags: readonly BoundTag[],
  weight: CallWeight,
  nowMono: number,
): Refusal | null {
  if (counters.every((one) => one.fits(weight, nowMono))) return null;
  return decideTagLimits(
    tags,
    counters.map((one) => one.waits(weight, nowMono)),
  );
}

/** @param tags those that it was asked for; none: it is that of key and workspace. */
function refusedBy(shared: SharedClaim | undefined, tags: readonly BoundTag[] = none): Refusal | null {
  if (shared?.answer.kind !== 'refused') return null;
  const { waits } = shared.answer;
  if (tags.length > 0) return decideTagLimits(tags, waits);
  const [key = noWaits, workspace = noWaits] = waits;
  return decideLimits(key, workspace);
}

/** `next` now if the value is there, so that no promise is made without need; else once it is. */
function after<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
