import { randomUUID } from 'node:crypto';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import type { Claim, ClaimRequest } from '#lib/gateway/admission/claim';
import { LeaseBook } from '#lib/gateway/admission/lease-book';
import { free, LimitGate } from '#lib/gateway/admission/limit-gate';
import { OpenCalls } from '#lib/gateway/admission/open-calls';
import { LimitBook } from '#lib/gateway/limits/pure/limit-book';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { SharedLimits } from '#lib/gateway/limits/shared-limits';
import type { Clock } from '#lib/platform/clock';
import type { Simulation } from '#tests/support/limits/simulation';

/** The limits of one process of a fleet, without money. */
export interface Member {
  readonly shared: SharedLimits;
  readonly lost: unknown[];
  asks: number;
  /** Whether a call is admitted. */
  claim(snapshot: KeySnapshot, parts?: Partial<ClaimRequest>): Promise<Claim | Refusal>;
  end(claim: Claim, parts?: { tokens?: number | null; undone?: boolean }): void;
  leave(claim: Claim): void;
  place(callId: string, snapshot: KeySnapshot): Promise<Refusal | null>;
  vacate(callId: string): void;
  /** Whether a call runs here. */
  holds(callId: string): boolean;
  /** Kills it: none of its requests reach the store any more. */
  kill(): void;
}

/** @param simulation null: real time, with ticks of its own timer. */
export function startMember(
  store: LimitStore,
  { processes, rank }: { processes: number; rank: number },
  simulation: Simulation | null,
  clock: Clock,
  tickMs = 250,
): Member {
  const lost: unknown[] = [];
  let dead = false;
  const counted: LimitStore = {
    name: store.name,
    get patienceMs() {
      return store.patienceMs;
    },
    carryOut: (ask) => {
      member.asks++;
      return dead ? new Promise(() => undefined) : store.carryOut(ask);
    },
    reconnect: () => store.reconnect(),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
  const shared = new SharedLimits({
    clock,
    store: counted,
    process: randomUUID().slice(-12),
    fleet: { now: () => ({ processes, rank }), start: async () => undefined, stop: () => undefined },
    onLost: (error) => lost.push(error),
    onBack: () => undefined,
    report: (error) => lost.push(error),
    ...(simulation ? { later: (ms: number, work: () => void) => simulation.later(ms, work) } : {}),
  });
  const calls = new OpenCalls(new LeaseBook());
  const gate = new LimitGate(clock, new LimitBook(), calls, shared);
  const member: Member = {
    shared,
    lost,
    asks: 0,
    claim: async (snapshot, parts = {}) =>
      gate.afterShared(
        {
          callId: randomUUID(),
          atMs: clock.now(),
          snapshot,
          need: 'rate',
          holdNano: 0n,
          tokens: 0,
          ...parts,
        },
        (request) => gate.admit(request, free),
      ),
    end: (claim, { tokens = null, undone = false } = {}) => {
      calls.release(claim.callId, { atMs: clock.now(), chargeNano: 0n, tokens, undone }, clock.mono());
    },
    leave: (claim) => calls.leave(claim.callId),
    place: async (callId, snapshot) => gate.place(callId, snapshot),
    vacate: (callId) => calls.vacate(callId),
    holds: (callId) => calls.missing(callId, 0n) !== null,
    kill: () => {
      dead = true;
    },
  };
  if (!simulation) void shared.start();
  else {
    const tick = () => {
      shared.tick();
      simulation.later(tickMs, tick);
    };
    simulation.later(tickMs / (rank + 1), tick);
  }
  return member;
}

export function admitted(answer: Claim | Refusal): answer is Claim {
  return !isRefusal(answer);
}

/** The most weight in any 60 s. @param moments ascending. */
export function mostInAnyMinute(
  moments: readonly { readonly atMs: number; readonly weight?: number }[],
): number {
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const { atMs, weight = 1 } of moments) {
    sum += weight;
    for (;;) {
      const oldest = moments[first];
      if (!oldest || oldest.atMs > atMs - 60_000) break;
      sum -= oldest.weight ?? 1;
      first++;
    }
    most = Math.max(most, sum);
  }
  return most;
}
