import type { KeySnapshot, StoredLimits } from '#lib/core/facts/snapshot';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { SlidingWindow } from '#lib/gateway/limits/pure/window';
import { admitted, mostInAnyMinute, startMember } from '#tests/support/limits/fleet';
import { Simulation } from '#tests/support/limits/simulation';

export interface Case {
  readonly processes: number;
  readonly limit: number;
  /** Calls a minute, as a multiple of the limit. */
  readonly load: number;
  /** Spread evenly at random, or all calls of a minute within a second around its end. */
  readonly arrivals: 'even' | 'edge';
}

export interface Seen {
  readonly calls: number;
  readonly admitted: number;
  /** How many of the same calls one process would have admitted. */
  readonly allowed: number;
  /** The most in any 60 s. */
  readonly most: number;
  readonly asks: number;
  readonly minutes: number;
  /** Failures of the store. */
  readonly lost: readonly unknown[];
}

export const cases: readonly Case[] = [1, 3].flatMap((processes) =>
  [1, 10, 600].flatMap((limit) =>
    [0.8, 3].flatMap((load) =>
      (['even', 'edge'] as const).map((arrivals): Case => ({ processes, limit, load, arrivals })),
    ),
  ),
);

/** A generator of numbers from 0 to 1, determined by a seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Runs calls through a fleet in simulated time.
 * @param open a store that uses the simulation's clock.
 * @param snapshot a key with the case's limit on it or its workspace.
 */
export async function runCase(
  { processes, limit, load, arrivals }: Case,
  snapshot: KeySnapshot,
  open: (simulation: Simulation) => LimitStore,
  { minutes = 3, seed = 1, roundTripMs = 1 } = {},
): Promise<Seen> {
  const simulation = new Simulation();
  const clock = { now: () => simulation.nowMs, mono: () => simulation.nowMs };
  const store = simulation.seen(open(simulation), roundTripMs);
  const members = Array.from({ length: processes }, (_, rank) =>
    startMember(store, { processes, rank }, simulation, clock),
  );
  const next = random(seed);
  const startMs = simulation.nowMs;
  const calls = Math.max(2, Math.round(limit * load * minutes));
  const moments = Array.from({ length: calls }, () => {
    if (arrivals === 'even') return next() * minutes * 60_000;
    return (1 + Math.floor(next() * minutes)) * 60_000 + (next() - 0.5) * 1_000;
  }).sort((one, other) => one - other);
  const ideal = new SlidingWindow(limit);
  const passed: { atMs: number }[] = [];
  let allowed = 0;
  for (const [position, moment] of moments.entries()) {
    const atMs = Math.floor(startMs + moment);
    if (ideal.fits(1, atMs)) {
      ideal.book(1, atMs);
      allowed++;
    }
    const member = members[Math.floor(next() * processes)] ?? members[position % processes];
    simulation.at(atMs, () => {
      void member?.claim(snapshot).then((answer) => {
        if (!admitted(answer)) return;
        passed.push({ atMs: simulation.nowMs });
        member.end(answer);
      });
    });
  }
  await simulation.run(startMs + (minutes + 2) * 60_000);
  return {
    calls,
    allowed,
    minutes,
    admitted: passed.length,
    most: mostInAnyMinute(passed),
    lost: members.flatMap(({ lost }) => lost),
    asks: members.reduce((sum, member) => sum + member.asks, 0),
  };
}

export const limitsOf = (limits: Partial<StoredLimits>): StoredLimits => ({
  rpm: null,
  tpm: null,
  concurrency: null,
  ...limits,
});
