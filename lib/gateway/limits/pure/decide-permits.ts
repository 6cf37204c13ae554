import type {
  Freed,
  PermitRequest,
  Permitted,
  RequestedCall,
  SubjectAnswer,
  Weight,
} from '#lib/gateway/limits/pure/permit-request';
import { WINDOW_MS } from '#lib/gateway/limits/pure/window';

/** What counts for a key or workspace when a permit request is decided, after its own news were entered. */
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

/** Permits that nobody waits for are at most this share of the limit, all processes together: a twentieth. */
const PERMIT_SHARE = 20;

/**
 * Which of the asked calls are admitted, in their order and each in full or not at all, and what permits the process
 * may use beyond them (contract: limits/permits). `store/script.ts` says the same in Lua, for Redis.
 */
export function decidePermits(ask: PermitRequest, standings: readonly Standing[]): Decision {
  const totals = standings.map((one) => ({ ...one }));
  const calls = standings.map(() => ({ requests: 0, tokens: 0, slots: 0 }));
  const refused = standings.map(() => false);
  const fits = (position: number, { requests, tokens, slot }: RequestedCall): boolean => {
    const { rpm, tpm, concurrency } = ask.subjects[position]?.limits ?? noLimits;
    const total = totals[position] ?? nothing;
    if (requests > 0 && !leaves(rpm, total.requests, requests)) return false;
    if (tokens !== null && !leaves(tpm, total.tokens, tokens)) return false;
    return !slot || concurrency === null || total.slots < concurrency;
  };
  const admitted = ask.calls.map((call) => {
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
  const subjects = ask.subjects.map(({ limits, want }, position): Decided => {
    const total = totals[position] ?? nothing;
    const none = refused[position] === true;
    const granted = {
      requests: none ? 0 : grantOf(limits.rpm, total.requests, want.requests, ask.processes),
      tokens: none ? 0 : grantOf(limits.tpm, total.tokens, want.tokens, ask.processes),
      slots: none ? 0 : slotsOf(limits.concurrency, total.slots, want.slots, ask.processes),
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

const noLimits = { rpm: null, tpm: null, concurrency: null };
const nothing = { requests: 0, tokens: 0, slots: 0 };
