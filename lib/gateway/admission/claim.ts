import type { KeySnapshot } from '#lib/core/facts/snapshot';
import type { BoundTag } from '#lib/core/facts/tags';
import type { CappedTag } from '#lib/gateway/admission/money-store';
import type { LimitNumbers } from '#lib/gateway/limits/pure/limits';
import type { SharedClaim } from '#lib/gateway/limits/shared-limits';

/** What one call asks for before it may start (contract: admission/claim). */
export interface ClaimRequest {
  readonly callId: string;
  /** Moment of admission, ms since the epoch. */
  readonly atMs: number;
  readonly snapshot: KeySnapshot;
  /** generate: funds, caps, RPM, TPM, concurrency. rate: RPM and concurrency. models: only RPM. */
  readonly need: 'generate' | 'rate' | 'models';
  /** What the call may cost, nano-dollars; 0n unless `generate`. */
  readonly holdNano: bigint;
  /** Estimate for TPM, tokens; 0 unless `generate`. */
  readonly tokens: number;
  /** Its hold must outlive this process (a job's): a row in PostgreSQL, whatever a lease could cover. */
  readonly durable?: boolean;
  /** All its targets are simulated: simulated money pays for it too (contract: money/simulated-money). */
  readonly simulated?: boolean;
  /** The call has a place (`Coordinator.place`), which the claim takes over: of the limits only TPM is checked. */
  readonly placed?: boolean;
  /** It runs inside a session, which has a slot already: it takes none of its own (contract: realtime/limits). */
  readonly inSession?: boolean;
  /** It has begun already: limits count it, and do not refuse it (contract: realtime/limits). */
  readonly begun?: boolean;
  /** Its tags with budgets (contract: tags/budgets); absent: none. */
  readonly tags?: readonly BoundTag[];
  /** What the limits shared with other processes answered, for key and workspace; set only by the coordinator. */
  readonly shared?: SharedClaim;
  /** The same for its tags; absent: none of them has a limit. */
  readonly sharedTags?: SharedClaim;
  /** What recovery needs of the call if no journal has it, to be written with its hold; absent: there is nothing to pay. */
  readonly open?: () => Uint8Array;
}

/** Where the hold is: in a lease (memory), a row in PostgreSQL, or nowhere (nothing to pay). */
export type Funding = 'lease' | 'row' | 'none';

/** An admitted call's share of everything scarce. Ends with exactly one `release`. */
export interface Claim {
  readonly callId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly admittedAtMs: number;
  readonly holdNano: bigint;
  readonly tokens: number;
  readonly funding: Funding;
  /** Simulated money pays for it too. */
  readonly simulated: boolean;
  readonly numbers: LimitNumbers;
  /** Its tags with budgets in dollars, which must have room when its hold grows; absent: none. */
  readonly tags?: readonly CappedTag[];
}

/** How a claim ended. */
export interface ClaimEnd {
  /** Moment of the end, ms since the epoch. */
  readonly atMs: number;
  /** The charge, nano-dollars; posted by the drain. */
  readonly chargeNano: bigint;
  /** Tokens that TPM counts; null keeps the estimate. */
  readonly tokens: number | null;
  /** The call never started (its plan had failed): every counter goes back as if it had not been. */
  readonly undone?: boolean;
}

/** What the drain has posted, so that leases shrink with it. */
export interface Posted {
  readonly callId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly funding: Funding;
  readonly chargeNano: bigint;
}
