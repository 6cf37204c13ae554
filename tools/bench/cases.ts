import { type Shape, shapes } from './bodies/shapes.ts';
import type { LoadPlan, Target } from './plan.ts';

/** One thing that is measured of every target. */
export interface Case {
  readonly name: string;
  readonly about: string;
  /** How often each target is measured; turns alternate (A B A B), so that drift affects all equally. */
  readonly rounds: number;
  /** Measures the memory that the server holds, not its speed. */
  readonly held?: boolean;
  plan(target: Target): LoadPlan;
}

export interface Sizes {
  readonly seconds: number;
  readonly rounds: number;
  readonly streams: readonly number[];
}

export function casesOf({ seconds, rounds, streams }: Sizes): Case[] {
  const base = ({ port, key, models }: Target) => ({
    port,
    key,
    model: models.whole,
    besideModel: models.stream,
    shape: 'small' as Shape,
    perSecond: 0,
    connections: 32,
  });
  const throughput: Case = {
    name: 'throughput',
    about: '32 connections, each sends its next request when it is answered',
    rounds,
    plan: (target) => ({ ...base(target), kind: 'closed', warmUpSeconds: 8, seconds }),
  };
  const added: Case = {
    name: 'added-latency',
    about: '50 requests a second by the clock',
    rounds,
    plan: (target) => ({ ...base(target), kind: 'open', perSecond: 50, warmUpSeconds: 1, seconds }),
  };
  const many = streams.map(
    (count): Case => ({
      name: `streams-${count}`,
      about: `${count} streams at once`,
      rounds,
      plan: (target) => ({
        ...base(target),
        kind: 'streams',
        model: target.models.stream,
        connections: count,
        warmUpSeconds: 0,
        seconds: 0,
      }),
    }),
  );
  const memory = many
    .filter((_, at) => (streams[at] ?? 0) >= 1000)
    .map(
      (one): Case => ({
        ...one,
        name: one.name.replace('streams', 'memory'),
        held: true,
        about: `what is held for each of ${one.about}`,
      }),
    );
  const bodies = Object.entries(shapes).map(
    ([shape, { about, connections }]): Case => ({
      name: `bodies-${shape}`,
      about: `${about}, ${connections} connections`,
      rounds,
      plan: (target) => ({
        ...base(target),
        kind: 'closed',
        shape: shape as Shape,
        connections,
        warmUpSeconds: 3,
        seconds: Math.min(seconds, 4),
      }),
    }),
  );
  const firstWord: Case = {
    name: 'first-word',
    about: '10 streams a second with bodies of 500 KB, beside 100 streams',
    rounds,
    plan: (target) => ({
      ...base(target),
      kind: 'first-word',
      shape: 'turns-500k',
      model: target.models.brief,
      connections: 100,
      perSecond: 10,
      warmUpSeconds: 3,
      seconds: seconds * 2,
    }),
  };
  return [throughput, added, ...many, ...memory, ...bodies, firstWord];
}
