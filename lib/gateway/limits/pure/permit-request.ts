import type { StoredLimits } from '#lib/core/facts/snapshot';

/** What counts in the window of 60 s. */
export interface Weight {
  readonly requests: number;
  readonly tokens: number;
}

/** An entry of a window: what one process used by one permit request, or without one. */
export interface WindowEntry extends Weight {
  readonly id: string;
  /** ms since its last use; negative while permits of it may still be used. */
  readonly ageMs: number;
}

/** Permits beyond what the asked calls take. */
export interface Permitted extends Weight {
  readonly slots: number;
}

/** What a process tells and asks about one key or workspace. */
export interface RequestedSubject {
  readonly id: string;
  readonly limits: StoredLimits;
  /** Slots that the process holds now, in use or spare: absolute, so that telling it twice changes nothing. */
  readonly slots: number;
  /** Entries that weigh less, or were last used earlier, than the store knows. Never raises one. */
  readonly lowered: readonly WindowEntry[];
  /** Entries that count whatever the limit says, because it happened; those that are there already do not change. */
  readonly used: readonly WindowEntry[];
  readonly want: Permitted;
}

/** A call that waits for its admission. */
export interface RequestedCall {
  /** Positions in `PermitRequest.subjects`: its key, its workspace. */
  readonly subjects: readonly [number, number];
  /** 0: it holds its request already. */
  readonly requests: 0 | 1;
  /** null: tokens do not count for it. */
  readonly tokens: number | null;
  readonly slot: boolean;
}

/** One round trip: of one process about one workspace. */
export interface PermitRequest {
  readonly workspaceId: string;
  /** Unique for each life of a process. */
  readonly process: string;
  /** Counts up within a process and workspace: one that was carried out already is answered as it was then. */
  readonly turn: number;
  /** Of the state that the process knows; null: it knows none. */
  readonly epoch: string | null;
  /** How many processes share the limits; at least 1. */
  readonly processes: number;
  readonly subjects: readonly RequestedSubject[];
  readonly calls: readonly RequestedCall[];
}

/** What leaves the window within so many whole seconds from the answer, beyond what leaves it earlier. */
export type Freed = readonly [seconds: number, requests: number, tokens: number];

export interface SubjectAnswer {
  /** Permits to use within `permitMs`, beyond what the admitted calls took. */
  readonly granted: Permitted;
  /** What is left in the store; negative when more was used than the limit allows, null without a limit. */
  readonly room: {
    readonly requests: number | null;
    readonly tokens: number | null;
    readonly slots: number | null;
  };
  /** Ascending; null unless a call was refused here. */
  readonly freed: readonly Freed[] | null;
}

/** What the store answers to a permit request. */
export interface PermitAnswer {
  readonly epoch: string;
  /** The state that the process knew is gone, or the turn is old: nothing was done. Tell all, and ask again. */
  readonly lost: boolean;
  /** By position of the call. */
  readonly admitted: readonly boolean[];
  /** By position of the subject. */
  readonly subjects: readonly SubjectAnswer[];
}

/** Where the limits of several processes are counted (contract: limits/stores). */
export interface LimitStore {
  /** What it is called in the log. */
  readonly name: string;
  /** How long a call may wait for it, ms. */
  readonly patienceMs: number;
  /** Carries a permit request out, at most once for each turn. @throws when the store is away or refuses. */
  carryOut(ask: PermitRequest): Promise<PermitAnswer>;
  /** Opens a connection anew after one that failed or fell silent. */
  reconnect(): void;
  /** Removes what no longer counts, where the store does not do it by itself. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** How long permits may be used, counted from sending the request for them, ms (contract: limits/permits). */
export const permitMs = 1_000;
/** Slots of a process that has not been heard from for this long are free; ms (contract: limits/concurrency). */
export const slotLifeMs = 20_000;
