import type { Refusal } from '#lib/core/errors';
import type { CredentialFacts } from '#lib/core/facts/credential';
import type { ModelFacts, OfferFacts, PriceVersion } from '#lib/core/facts/snapshot';
import type { FamilyId } from '#lib/core/families/ids';

/** One place where a call may go: everything an attempt needs, decided before anything is spent. */
export interface Target {
  readonly model: ModelFacts;
  readonly offer: OfferFacts;
  /** Spoken by the offer: if it is not the client's, the call is translated (contract: translation/when). */
  readonly family: FamilyId;
  /** The provider's versioned root. */
  readonly address: URL;
  /** By which it is called. */
  readonly credential: CredentialFacts;
  /** All by which it may be called, in the order of trying (contract: routing/credential-order). */
  readonly pool: readonly CredentialFacts[];
  readonly price: PriceVersion;
  /** Output budget to write into the request, tokens; null: none (contract: admission/budget-injection). */
  readonly injectBudget: number | null;
  /** What this provider offers the request's nested models as, by slug; absent: the request names none. */
  readonly nested?: ReadonlyMap<string, NestedOffer>;
}

/** An offer of a nested model, with a price. */
export interface NestedOffer {
  readonly upstreamModel: string;
  readonly price: PriceVersion;
}

/** Time limits of the attempts of a call, ms (contract: routing/time-limits). */
export interface TimeLimits {
  readonly connectMs: number;
  readonly firstByteMs: number;
  /** null: the model's default (`limitsOfModel`). */
  readonly firstWordMs: number | null;
  /** null: as above. */
  readonly idleMs: number | null;
  readonly totalMs: number;
  /** How long the first events of a stream may be held while another target is left (contract: routing/begun). */
  readonly holdMs: number;
}

/** Why an offer is not among the targets, for "route explain". */
export interface Skipped {
  /** "*" for a fallback model that is left out as a whole. */
  readonly provider: string;
  readonly model: string;
  readonly why: string;
}

/** Where a call goes, in order; or why it goes nowhere, kept until steps 11 to 14 have passed. */
export interface Plan {
  readonly targets: readonly Target[];
  /** How many attempts may be made (contract: routing/plan). */
  readonly attempts: number;
  readonly timeLimits: TimeLimits;
  readonly failure: Refusal | null;
  /** It failed because no offer can do what the request asks, which is answered before anything is claimed. */
  readonly unable: boolean;
}
