import type { Abilities, Ability } from '#lib/core/facts/abilities';
import type { CredentialFacts, OwnKey } from '#lib/core/facts/credential';
import type { StoreName } from '#lib/core/facts/stores';
import type { TagRules } from '#lib/core/facts/tags';
import type { FamilyId } from '#lib/core/families/ids';
import type { Price } from '#lib/core/metering/price-list';
import type { Auth, CredentialHeaderName, Variants } from '#lib/core/schemas/catalogue';

/**
 * Limits as stored. null: no limit. Values are not trusted: `decide` checks them (contract: admission/stored-limits).
 */
export interface StoredLimits {
  /** Requests in any 60 s. */
  readonly rpm: number | null;
  /** Tokens in any 60 s. */
  readonly tpm: number | null;
  /** Calls in flight. */
  readonly concurrency: number | null;
}

/** Spend caps of a key in nano-dollars; null: none. */
export interface Caps {
  readonly dayNano: bigint | null;
  readonly d7Nano: bigint | null;
  readonly d30Nano: bigint | null;
  /** Lifetime quota. */
  readonly quotaNano: bigint | null;
}

export interface KeyFacts {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'inactive' | 'revoked';
  readonly quotaExhausted: boolean;
  /** null: every model of the catalogue. */
  readonly models: ReadonlySet<string> | null;
  readonly maxOutputTokens: number | null;
  readonly caps: Caps;
  readonly limits: StoredLimits;
  /** ms since the epoch; null: never. */
  readonly expiresAtMs: number | null;
  /** Set when the member who made the key is gone from the workspace. */
  readonly ownerRemoved: boolean;
  /** Set where it is the key of a session's playground, and that session or its member's right to it has ended. */
  readonly sessionEnded: boolean;
}

export interface WorkspaceFacts {
  readonly id: string;
  readonly slug: string;
  /** IANA zone: the day boundary of the daily cap. Not trusted, as limits. */
  readonly timeZone: string;
  readonly strict: boolean;
  readonly suspended: boolean;
  readonly limits: StoredLimits;
}

/** Which calls of a key have their content kept (contract: content/which). */
export interface ContentRule {
  /** `errors`: only calls that were answered with an error. */
  readonly mode: 'errors' | 'all';
  /** The share of these calls, percent: 1 to 100. */
  readonly share: number;
  /** How long the content is kept, days. */
  readonly days: number;
  /** What is masked in it before (contract: content/masks); absent: nothing. */
  readonly masks?: {
    readonly ready: readonly MaskKind[];
    /** The workspace's own patterns, "name: pattern" a line; null: none. */
    readonly patterns: string | null;
  };
}

/** What the gateway can find by itself (contract: content/masks). */
export const maskKinds = ['keys', 'mail', 'cards', 'phones'] as const;
export type MaskKind = (typeof maskKinds)[number];

/** Whether answers to a key's requests are kept and repeated (contract: repeats/settings). */
export interface RepeatRule {
  /** For requests with an `Idempotency-Key`. */
  readonly idempotency: boolean;
  /** As a cache: for requests that ask for it, or for `all`; null: for none. */
  readonly cache: 'asked' | 'all' | null;
  /** How long the cache keeps an answer if the request does not say so, seconds. */
  readonly cacheSeconds: number;
}

/** All that admission and routing need to know of a key: one object in memory, replaced whole. */
export interface KeySnapshot {
  readonly key: KeyFacts;
  readonly workspace: WorkspaceFacts;
  /** Stored policies by model id; "" is the workspace's default. Checked when written. */
  readonly policies: ReadonlyMap<string, Policy>;
  /** The workspace's own keys; absent: it has none. */
  readonly ownKeys?: readonly OwnKey[];
  /** null: no content is kept. */
  readonly content: ContentRule | null;
  /** Absent: no answers are repeated. */
  readonly repeats?: RepeatRule;
  /** Whether tags and end users of calls are recorded, and their budgets; absent: neither is. */
  readonly tagRules?: TagRules;
  /** The rotated-out secret stops here: ms since the epoch, null when this is the current secret. */
  readonly secretUntilMs: number | null;
}

/** Routing policy of a workspace or of one model in it (contract: routing/policy, operations/policy-file). */
export interface Policy {
  readonly sort?: 'order' | 'price' | 'latency' | 'throughput' | undefined;
  readonly order?: readonly string[] | undefined;
  readonly only?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly weights?: Readonly<Record<string, number>> | undefined;
  readonly fallbackModels?: readonly string[] | undefined;
  /** Whether offers that speak only another protocol are candidates (contract: translation/when). */
  readonly translate?: 'never' | 'fallback' | 'allow' | undefined;
  /** USD per million tokens, decimal strings. */
  readonly maxPrice?:
    | { readonly input?: string | undefined; readonly output?: string | undefined }
    | undefined;
  /** USD that a batch may hold at most, a decimal string (contract: batches/hold). */
  readonly maxBatchHold?: string | undefined;
  readonly maxAttempts?: number | undefined;
  /** Only in the default policy: other names of models; a list is a chain, tried in its order. */
  readonly aliases?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly timeouts?:
    | {
        readonly connectMs?: number | undefined;
        readonly firstByteMs?: number | undefined;
        readonly firstByteWholeMs?: number | undefined;
        readonly firstWordMs?: number | undefined;
        readonly idleMs?: number | undefined;
        readonly totalMs?: number | undefined;
        readonly holdMs?: number | undefined;
      }
    | undefined;
}

/** An address of a provider for one family: its versioned root, already read and checked. */
export type Address =
  | { readonly state: 'ready'; readonly url: URL }
  | { readonly state: 'missing'; readonly why: string }
  | { readonly state: 'invalid'; readonly why: string };

export interface ProviderFacts {
  readonly id: string;
  readonly name: string;
  readonly families: ReadonlyMap<FamilyId, Address>;
  /** The operator's credentials at this provider that this process can read; empty: it gets no calls. */
  readonly credentials: readonly CredentialFacts[];
  /** Those that get no new calls: only what they made is reached with them (contract: jobs/pinning). */
  readonly withdrawn: readonly CredentialFacts[];
  /** The variable that would hold the default one, for messages; null when the catalogue gave a value or none. */
  readonly credentialEnv: string | null;
  /** By name, why a credential that is there cannot be used, without anything of it; absent: all can. */
  readonly credentialFaults?: ReadonlyMap<string, string>;
  /** Of families whose address takes the credential in another header than the family's own. */
  readonly credentialHeaders: ReadonlyMap<FamilyId, CredentialHeaderName>;
  /** How credentials of its cloud become what is sent; absent: each is sent as it is. */
  readonly auth?: Auth;
  /** Of families whose requests its address takes in another form; absent: of none. */
  readonly variants?: Variants;
  readonly onDisconnect: 'abort' | 'drain';
  /** What requests that name no model may have it store. */
  readonly stores: ReadonlySet<StoreName>;
  /** The page where it publishes its prices; null: the catalogue names none. */
  readonly pricesFrom: string | null;
}

export interface PriceVersion {
  readonly id: string;
  /** ms since the epoch. */
  readonly effectiveAtMs: number;
  readonly price: Price;
}

/** A model at a provider. */
export interface OfferFacts {
  readonly id: string;
  readonly modelId: string;
  readonly provider: ProviderFacts;
  readonly upstreamModel: string;
  readonly families: ReadonlySet<FamilyId>;
  /** null: unpriced, listed but never routed to. */
  readonly price: PriceVersion | null;
  readonly outputBudgetField: 'max_tokens' | 'max_completion_tokens' | null;
  readonly streamUsage: 'never' | null;
  /** `none`: its streams are known to leave their family's own end out (contract: routing/own-end). */
  readonly streamEnd: 'none' | null;
  readonly denyBetas: readonly string[];
  /** What it and its model say that it can do, and cannot (contract: routing/abilities). */
  readonly abilities: Abilities;
  /** Those that it lacks and that decide where a call goes. */
  readonly lacks: readonly Ability[];
  /** Operations of its families that it does not serve. */
  readonly unserved: ReadonlySet<string>;
  /** Its provider serves it until then, ms since the epoch (contract: routing/retired); null: no end is known. */
  readonly servedUntilMs: number | null;
}

export interface ModelFacts {
  readonly id: string;
  readonly name: string;
  /** Further names that clients send for it. */
  readonly aliases: readonly string[];
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly input: readonly string[];
  readonly output: readonly string[];
  /** Its output may hold thinking that the client does not see (contract: money/hidden-reasoning). */
  readonly reasoning: boolean;
  readonly createdAtMs: number;
  /** "2026-07-02" or "2026-07"; null: the catalogue does not know. */
  readonly released: string | null;
  /** In catalogue order. */
  readonly offers: readonly OfferFacts[];
}

/** The catalogue in force, replaced whole when it changes. */
export interface Catalogue {
  readonly models: ReadonlyMap<string, ModelFacts>;
  readonly providers: ReadonlyMap<string, ProviderFacts>;
}
