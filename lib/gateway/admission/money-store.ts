import type { Tag, TagCaps } from '#lib/core/facts/tags';

/** Where money is granted: PostgreSQL (`database/money-in-database.ts`). Times are ms since the epoch. */
export interface MoneyStore {
  /**
   * Enters this process as an owner with a new epoch; what an earlier epoch leased is void and returned.
   * @param fresh true at the start of the process: holds that its earlier life left are removed too.
   */
  register(fresh: boolean): Promise<void>;
  /** Renews the owner for 45 s. @returns false when another process has closed it meanwhile. */
  beat(): Promise<boolean>;
  /** Reports what is held. @returns the leases that another process has recalled. */
  reportHeld(leases: readonly HeldLease[]): Promise<readonly LeaseRef[]>;
  /** One transaction for all holds that calls of a workspace ask for, in their order. */
  fund(request: FundRequest): Promise<FundAnswer>;
  /** Whether other owners have not given back yet what was recalled. */
  awaiting(refs: readonly LeaseRef[]): Promise<boolean>;
  /** Lowers a lease to what is held, deletes one that holds nothing, and answers a recall. */
  giveBack(lease: HeldLease): Promise<void>;
  /** Writes hold rows of calls that run already. */
  addHolds(calls: readonly RunningHold[]): Promise<void>;
  /** Removes hold rows of calls; those that are gone already, or have become a job's, do not matter. */
  removeHolds(callIds: readonly string[]): Promise<void>;
  /** When a sliding cap frees up: ms since the epoch, null when its settled spend is below the cap. */
  freesAt(spender: Spender, hours: number, capNano: bigint, atMs: number): Promise<number | null>;
  /** Closes owners whose heartbeat expired: their leases and holds. */
  closeExpired(): Promise<void>;
  /** Leaves in order: the owner goes when nothing of it is open. */
  leave(): Promise<void>;
  /** Whether any of these failed because the database is not there. */
  isAway(error: unknown): boolean;
}

/** Whose sliding cap: a key's or a tag's. */
export type Spender = { readonly keyId: string } | { readonly tagId: string };

/** Promo credit that expires within so many seconds is not leased, and what is leased then is recalled. */
export const endingSeconds = 30;

export type LeaseKind = 'workspace' | 'key';

export interface LeaseRef {
  readonly kind: LeaseKind;
  readonly subjectId: string;
}

export interface HeldLease extends LeaseRef {
  /** Open holds and charges that are not yet posted, nano-dollars. */
  readonly heldNano: bigint;
}

/** What the memory of this process knows of one lease when it asks. */
export interface LeaseState {
  readonly subjectId: string;
  /** Granted − held − debt; negative after an epoch was lost. */
  readonly usableNano: bigint;
  /** Held + debt: what must stay leased. */
  readonly keepNano: bigint;
  /** Largest hold of the last minute. */
  readonly peakNano: bigint;
  /** Whether more may be leased; a recall pauses that. */
  readonly grantable: boolean;
  /** Second look: what is unspent of it is given back first. */
  readonly reclaim: boolean;
  /** It was granted out of simulated money too. */
  readonly simulated: boolean;
}

/** The hold of a call that was admitted without the database. */
export interface RunningHold
  extends Pick<HoldRequest, 'callId' | 'keyId' | 'amountNano' | 'atMs' | 'simulated'> {
  readonly workspaceId: string;
}

/** A tag of a call whose budget in dollars must have room for it. */
export interface CappedTag extends Tag {
  /** UUID. */
  readonly id: string;
  readonly caps: TagCaps;
}

/** The hold that one call asks for, or what its hold is to grow by. */
export interface HoldRequest {
  readonly callId: string;
  readonly keyId: string;
  /** Whether the key has caps, so that a key lease or a row must cover it too. */
  readonly capped: boolean;
  readonly amountNano: bigint;
  /** Strict workspaces and growing holds: it must fit, crossing is not enough. */
  readonly mustFit: boolean;
  /** A new hold, or one that must be a row; or more for a running one, which is in a lease or a row. */
  readonly mode: 'claim' | 'claim-row' | 'grow-lease' | 'grow-row';
  readonly atMs: number;
  /** All targets of the call are simulated: simulated money pays for it too (contract: money/simulated-money). */
  readonly simulated?: boolean;
  /** Its tags with budgets in dollars: it must be a row (contract: tags/spend); absent: none. */
  readonly tags?: readonly CappedTag[];
  /** What recovery needs of the call, to be written with its hold; absent: the journal has it. */
  readonly open?: Uint8Array;
}

export interface FundRequest {
  readonly workspaceId: string;
  /** IANA zone of the daily caps and the monthly budget. */
  readonly timeZone: string;
  readonly atMs: number;
  readonly holds: readonly HoldRequest[];
  readonly workspace: LeaseState;
  readonly keys: readonly LeaseState[];
  /** Recall leases of other owners that are in the way. */
  readonly recall: boolean;
}

/** Why a hold was refused, with what the message needs. */
export interface Shortage {
  readonly code:
    | 'insufficient_balance'
    | 'day_limit_reached'
    | 'd7_limit_reached'
    | 'd30_limit_reached'
    | 'quota_exceeded';
  /** Settled spend would admit it: only running calls are in the way. */
  readonly runningOnly: boolean;
  /** Leases of other owners that are in the way. */
  readonly leases: readonly LeaseRef[];
  /** The cap, the budget, or the settled funds of the workspace, nano-dollars. */
  readonly boundNano: bigint;
  /** Simulated money, which the bound leaves out: the call goes to a real provider, and there is some. */
  readonly besideSimulated: boolean;
  /** The bound is the monthly budget of the workspace (contract: money/budget-mode). */
  readonly ofBudget: boolean;
  /** The bound is the budget of a tag; null: it is not. */
  readonly ofTag: CappedTag | null;
  /** End of the day or month in the workspace's zone; null unless the daily cap or the budget is short. */
  readonly freesAtMs: number | null;
}

/** What became of the request for a hold: booked in a lease, written as a row, or refused for lack of money. */
export type HoldAnswer =
  | { readonly kind: 'lease' }
  | { readonly kind: 'row' }
  | { readonly kind: 'short'; readonly shortage: Shortage };

export interface Grant {
  readonly grantedNano: bigint;
  readonly simulated: boolean;
}

/** What was free when the database was last asked, nano-dollars: neither held nor leased to any process. */
export interface Free {
  readonly freeNano: bigint;
  /** Of it, what pays real providers too: the rest is simulated money. */
  readonly realNano: bigint;
}

export interface FundAnswer {
  /** False: this owner was closed meanwhile; nothing was done. */
  readonly alive: boolean;
  /** By position of the hold. */
  readonly answers: readonly HoldAnswer[];
  /** Newly leased, nano-dollars; `simulated`: only for calls whose targets are all simulated. */
  readonly grants: readonly (LeaseRef & Grant)[];
  /** What is free then, of the workspace and of the keys that were asked for. */
  readonly left: readonly (LeaseRef & Free)[];
  /** Processes that live, including this one. */
  readonly owners: number;
}
