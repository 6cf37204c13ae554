import type { CloudKey } from '#lib/core/facts/cloud-key';

/** The credential that the catalogue's files name, and the only one of a provider that never got another. */
export const defaultCredential = 'default';

/** Sent in place of a credential to providers that ask for none (contract: operations/catalogue-credential). */
export const noCredential = 'no-credential-needed';

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

/** One of the operator's credentials at a provider, with its secret (contract: routing/pool). */
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
  /** Absent: it has none of its own. */
  readonly limits?: CredentialLimits;
}

/** A credential whose provider keeps something: what continues it is bound to both (contract: jobs/pinning). */
export interface Keeper {
  readonly providerId: string;
  /** The credential's name. */
  readonly credential: string;
}
