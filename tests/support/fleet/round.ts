import { appendFileSync } from 'node:fs';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/**
 * One round of a fault test. `npm test` runs a short one; `npm run fleet -- --seed N --minutes M` runs round
 * after round, each with its own seed and more faults, and adds up the figures.
 */
const seed = Number(process.env.FLEET_SEED ?? 1);

/**
 * The random numbers of one file, whichever ran before it.
 * @returns a function that gives the next number from 0 to `below`, exclusive: the same ones for the same
 * FLEET_SEED.
 */
export function drawing(): (below: number) => number {
  const generator = xoroshiro128plus(seed);
  return (below) => uniformInt(generator, 0, Math.max(0, Math.floor(below) - 1));
}

/** Number of faults in a round. @param few in `npm test`. */
export function faultsOf(few: number): number {
  return Number(process.env.FLEET_FAULTS ?? few);
}

/**
 * Calls a second during the faults. @param few in `npm test`, which needs some running calls at each fault.
 */
export function callsASecondOf(few: number, many: number): number {
  return process.env.FLEET_FAULTS ? many : few;
}

/** Prints the figures of a round, and writes them to the file that adds up rounds. */
export function tellFigures(what: string, figures: Readonly<Record<string, number | string>>): void {
  process.stdout.write(`${what}: ${JSON.stringify({ seed, ...figures })}\n`);
  const file = process.env.FLEET_FIGURES;
  if (file) appendFileSync(file, `${JSON.stringify({ what, figures })}\n`);
}
