import type { Refusal } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import type { MachineFault } from '#lib/core/machine-fault';
import type { LimitNumbers } from '#lib/gateway/limits/pure/numbers';
import type { Pass } from '#lib/gateway/limits/shared-limits';

/** What one call wants before it may start (contract: admission/claim). */
export interface ClaimRequest {
  readonly callId: string;
  /** Moment of admission, ms since the epoch. */
  readonly atMs: number;
  readonly snapshot: KeySnapshot;
  /** generate: funds, caps, RPM, TPM, concurrency. rate: RPM and concurrency. models: RPM alone. */
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
  /** What the limits shared with other processes answered; set by the coordinator alone. */
  readonly pass?: Pass;
  /** What recovery needs of the call where no journal has it, to be written with its hold; absent: nothing is to pay. */
  readonly open?: () => Uint8Array;
}

/** Where the hold stands: in a lease (memory), as a row in PostgreSQL, or nowhere (nothing to pay). */
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

/** The disk refuses the journal; this version cannot settle in its database. */
export type SuspendCause = 'journal' | 'outdated';

/**
 * The local quota coordinator: the one object that owns leases and counters of this process.
 * A claim within the lease is answered without a promise and without SQL.
 */
export interface Coordinator {
  /**
   * Takes the RPM unit and the concurrency slots of a call before its body is read (contract: body/large-first). The
   * unit counts as admitted now until the claim, which then books it at its own moment.
   * @returns the refusal; null: the call holds them until its claim, or until `vacate`.
   */
  place(callId: string, snapshot: KeySnapshot): Refusal | null | Promise<Refusal | null>;
  /** Frees the place of a call that ends without a claim. Idempotent by call id. */
  vacate(callId: string): void;
  claim(request: ClaimRequest): Claim | Refusal | Promise<Claim | Refusal>;
  /**
   * A running call's estimate passed its hold: raise it to `holdNano`. False when it cannot grow
   * (a strict workspace then ends the stream; others go on and the excess is recorded).
   */
  grow(claim: Claim, holdNano: bigint): boolean | Promise<boolean>;
  /** Frees the slots of a running call whose client has left; its hold stays. Idempotent by call id. */
  leave(claim: Claim): void;
  /** Frees the slot, corrects TPM, turns the hold into a debt until the drain has posted it. Idempotent by call id. */
  release(claim: Claim, outcome: ClaimEnd): void;
  /** The drain's transaction committed: the debts of these calls now stand in the ledger. */
  posted(calls: readonly Posted[]): void;
  /** A lease was recalled or a limit changed elsewhere (change feed). */
  recall(kind: 'workspace' | 'key', subjectId: string): void;
  /** Whether new calls may be admitted at all: false while the journal or the money store is lost. */
  ready(): boolean;
  /** Stops admission at once and permanently, with this reason: the process is stopping. */
  halt(reason: string): void;
  /** Stops admission at once with this reason, until `resume` of the same cause. */
  suspend(cause: SuspendCause, reason: string, machineFault?: MachineFault | null): void;
  resume(cause: SuspendCause): void;
  /** Gives every lease back; for an orderly stop. */
  close(): Promise<void>;
}
