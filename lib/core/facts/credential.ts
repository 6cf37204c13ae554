import type { CloudKey } from '#lib/core/facts/cloud-key';

/** Sent in place of a credential to providers that ask for none (contract: operations/catalogue-credential). */
export const noCredential = 'no-credential-needed';

/** How an own key is used beside the operator's credentials (contract: own-keys/use). */
export const ownUses = ['first', 'only', 'last'] as const;
export type OwnUse = (typeof ownUses)[number];

/** What a credential has that belongs to a workspace. */
export interface OwnTerms {
  readonly use: OwnUse;
  /** Its fee in hundredths of a percent of the list price (contract: own-keys/fee). */
  readonly feePoints: number;
  /** Where it is sent instead of the provider's main address; null: to the provider's addresses. */
  readonly address: URL | null;
}

/** A credential that a workspace has stored for a provider (contract: own-keys/an-own-key). */
export interface OwnKey {
  readonly providerId: string;
  readonly use: OwnUse;
  /** Models that it may serve, by slug; null: all. */
  readonly models: ReadonlySet<string> | null;
  /** null: it cannot be used here: it cannot be opened, or the operator does not allow it. */
  readonly credential: CredentialFacts | null;
}

/** The name of an own key among credentials: no credential of an operator has a colon in its name. */
export function ownKeyName(id: string): string {
  return `own:${id}`;
}

export function isOwnKeyName(name: string): boolean {
  return name.startsWith('own:');
}

/** The limits that a credential has of its own, over all processes (contract: limits/credentials). */
export interface CredentialLimits {
  /** Of the credential and of its provider, where they are counted: UUIDs. */
  readonly id: string;
  readonly providerId: string;
  readonly stored: {
    /** Requests in any 60 s; null: no limit. */
    readonly rpm: number | null;
    /** Tokens in any 60 s; null: no limit. */
    readonly tpm: number | null;
    readonly concurrency: null;
  };
}

/** One of the operator's credentials at a provider, or a workspace's own key, with its secret (contract: routing/pool). */
export interface CredentialFacts {
  /** Unique at its provider, and never changed: jobs, stored objects and rows of the call log name it. */
  readonly name: string;
  readonly secret: string;
  /** What it gets tokens or signs with; absent: the secret itself is sent (contract: families/cloud-credentials). */
  readonly cloud?: CloudKey;
  /** The secret is a token of a cloud, which is sent as one whatever header the family or address takes. */
  readonly bearer?: true;
  /** Its share of the calls among those of its priority. */
  readonly weight: number;
  /** The lowest goes first. */
  readonly priority: number;
  /** Models that it may serve, by slug; null: all. */
  readonly models: ReadonlySet<string> | null;
  /** It belongs to a workspace; absent: to the operator. */
  readonly own?: OwnTerms;
  /** Absent: it has none of its own. */
  readonly limits?: CredentialLimits;
}

/** A credential whose provider keeps something: what continues it is bound to both (contract: jobs/pinning). */
export interface Keeper {
  readonly providerId: string;
  /** The credential's name. */
  readonly credential: string;
}
