/** How far a process admits calls while its database is away (contract: money/outage-allowance). */
export interface AllowanceLimits {
  /** ms from the first failure on; 0: not at all. */
  readonly forMs: number;
  /** For all workspaces and all processes together, nano-dollars. */
  readonly boundNano: bigint;
}

/** Settings of top-ups (contract: operations/settings). */
export interface PaymentSettings {
  readonly secretKey: string;
  readonly webhookSecret: string | null;
  /** A stand-in's address; null: Stripe's own. */
  readonly apiBase: string | null;
  /** `TOP_UP_FEE_PERCENT` in hundredths of a percent. */
  readonly feeBasisPoints: number;
}

export interface Proxies {
  /** For http addresses, and for https where `https` is null. */
  readonly http: string | null;
  readonly https: string | null;
  /** Hosts that are reached without one, as `NO_PROXY` lists them. */
  readonly none: string;
}
