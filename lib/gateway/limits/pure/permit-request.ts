import type { StoredLimits } from '#lib/core/facts/snapshot';
import { type CallWeight, noLimits, type Weight } from '#lib/gateway/limits/pure/limits';
import { WINDOW_MS } from '#lib/gateway/limits/pure/window';

/** An entry of a window: what one process used by one permit request, or without one. */
export interface WindowEntry extends Weight {
  readonly id: string;
  /** ms since its last use; negative while permits of it may still be used. */
  readonly ageMs: number;
}

/** Permits beyond what the asked calls take. */
interface Permitted extends Weight {
  readonly slots: number;
}

/** What a process reports and requests about one key or workspace. */
export interface RequestedSubject {
  readonly id: string;
  readonly limits: StoredLimits;
  /** Slots that the process holds now, in use or spare: absolute, so that reporting it twice changes nothing. */
  readonly slots: number;
  /** Entries that weigh less, or were last used earlier, than the store knows. Never raises one. */
  readonly lowered: readonly WindowEntry[];
  /** Entries that count whatever the limit says, because it happened; those that are there already do not change. */
  readonly used: readonly WindowEntry[];
  readonly want: Permitted;
}

/** A call that waits for its admission. */
export interface RequestedCall extends CallWeight {
  /** Positions in `PermitRequest.subjects`: its key and its workspace, or its tags. */
  readonly subjects: readonly number[];
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
  /** The state that the process knew is gone, or the turn is old: nothing was done. Report all, and ask again. */
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
  carryOut(request: PermitRequest): Promise<PermitAnswer>;
  /** Opens a new connection after one that failed or fell silent. */
  reconnect(): void;
  /** Removes what no longer counts, if the store does not do it by itself. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** How long permits may be used, counted from sending the request for them, ms (contract: limits/permits). */
export const permitMs = 1_000;
/** Slots of a process that has not been heard from for this long are free; ms (contract: limits/concurrency). */
export const slotLifeMs = 20_000;

/** What counts for a key or workspace when a permit request is decided, after its report was entered. */
export interface Standing extends Weight {
  /** Of all living processes. */
  readonly slots: number;
}

interface Decided {
  /** What the admitted calls add. */
  readonly calls: Permitted;
  readonly granted: Permitted;
  readonly room: SubjectAnswer['room'];
  /** A call was refused here, so that its answer needs what is freed when. */
  readonly refused: boolean;
}

export interface Decision {
  readonly admitted: readonly boolean[];
  readonly subjects: readonly Decided[];
}

/** Permits that no call waits for are at most this share of the limit, all processes together: a twentieth. */
const PERMIT_SHARE = 20;

/**
 * Which of the asked calls are admitted, in their order and each in full or not at all, and what permits the process
 * may use beyond them (contract: limits/permits). `limits/store/script.ts` does the same in Lua, for Redis.
 */
export function decidePermits(request: PermitRequest, standings: readonly Standing[]): Decision {
  const totals = standings.map((one) => ({ ...one }));
  const calls = standings.map(() => ({ requests: 0, tokens: 0, slots: 0 }));
  const refused = standings.map(() => false);
  const fits = (position: number, { requests, tokens, slot }: RequestedCall): boolean => {
    const { rpm, tpm, concurrency } = request.subjects[position]?.limits ?? noLimits;
    const total = totals[position] ?? nothing;
    if (requests > 0 && !leaves(rpm, total.requests, requests)) return false;
    if (tokens !== null && !leaves(tpm, total.tokens, tokens)) return false;
    return !slot || concurrency === null || total.slots < concurrency;
  };
  const admitted = request.calls.map((call) => {
    const missing = call.subjects.filter((position) => !fits(position, call));
    for (const position of missing) refused[position] = true;
    if (missing.length > 0) return false;
    for (const position of call.subjects) {
      for (const sum of [totals[position], calls[position]]) {
        if (!sum) continue;
        sum.requests += call.requests;
        sum.tokens += call.tokens ?? 0;
        sum.slots += call.slot ? 1 : 0;
      }
    }
    return true;
  });
  const subjects = request.subjects.map(({ limits, want }, position): Decided => {
    const total = totals[position] ?? nothing;
    const none = refused[position] === true;
    const granted = {
      requests: none ? 0 : grantOf(limits.rpm, total.requests, want.requests, request.processes),
      tokens: none ? 0 : grantOf(limits.tpm, total.tokens, want.tokens, request.processes),
      slots: none ? 0 : slotsOf(limits.concurrency, total.slots, want.slots, request.processes),
    };
    return {
      calls: calls[position] ?? nothing,
      granted,
      room: {
        requests: roomOf(limits.rpm, total.requests + granted.requests),
        tokens: roomOf(limits.tpm, total.tokens + granted.tokens),
        slots: roomOf(limits.concurrency, total.slots + granted.slots),
      },
      refused: none,
    };
  });
  return { admitted, subjects };
}

/** Groups entries by the second, counted from `nowMs`, in which they will have left the window. */
export function freedOf(entries: Iterable<Weight & { readonly atMs: number }>, nowMs: number): Freed[] {
  const bySecond = new Map<number, [number, number, number]>();
  for (const { atMs, requests, tokens } of entries) {
    if (requests === 0 && tokens === 0) continue;
    const second = Math.ceil((atMs + WINDOW_MS - nowMs) / 1000);
    const sum = bySecond.get(second) ?? [second, 0, 0];
    sum[1] += requests;
    sum[2] += tokens;
    bySecond.set(second, sum);
  }
  return [...bySecond.values()].sort(([one], [other]) => one - other);
}

/**
 * ms until `weight` fits when nothing else arrives: whole seconds from the answer, so that waiting them is enough
 * (contract: limits/retry-after). One above the whole limit waits for an empty window.
 * @param room what was left; null without a limit.
 */
export function waitOf(
  kind: 'requests' | 'tokens',
  weight: number,
  limit: number | null,
  { room, freed }: Pick<SubjectAnswer, 'room' | 'freed'>,
): number {
  const left = room[kind];
  if (limit === null || left === null) return 0;
  // An oversized weight needs what counts now to be gone, which is the limit less the room.
  let missing = weight > limit ? limit - left : weight - left;
  if (missing <= 0) return 0;
  for (const [seconds, requests, tokens] of freed ?? []) {
    missing -= kind === 'requests' ? requests : tokens;
    if (missing <= 0) return Math.max(1, seconds) * 1000;
  }
  return WINDOW_MS;
}

function leaves(limit: number | null, total: number, weight: number): boolean {
  if (limit === null) return true;
  return weight > limit ? total === 0 : total + weight <= limit;
}

function roomOf(limit: number | null, total: number): number | null {
  return limit === null ? null : limit - total;
}

function grantOf(limit: number | null, total: number, want: number, processes: number): number {
  if (limit === null) return 0;
  const most = Math.floor(Math.min(limit - total, limit / PERMIT_SHARE) / processes);
  return Math.max(0, Math.min(want, most));
}

/** Half of what is free, so that what one process keeps spare leaves room for the others. */
function slotsOf(limit: number | null, total: number, want: number, processes: number): number {
  if (limit === null) return 0;
  return Math.max(0, Math.min(want, Math.floor((limit - total) / (2 * processes))));
}

const nothing = { requests: 0, tokens: 0, slots: 0 };
