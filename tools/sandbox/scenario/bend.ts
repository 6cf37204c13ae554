import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';

type Bend = (value: number) => number;

/** How each kind of usage report falsifies the true figures. */
const bends: Readonly<Record<Exclude<UsageFigures, 'none' | 'null'>, Bend>> = {
  honest: (value) => value,
  negative: (value) => -value,
  absurd: (value) => (value === 0 ? 0 : 1e12),
  fraction: (value) => value + 0.5,
};

/** A usage object as the provider reports it, true or falsified. @returns undefined: it reports none; null: it says null. */
export function reported(figures: UsageFigures, report: (bend: Bend) => object): object | null | undefined {
  if (figures === 'none') return undefined;
  return figures === 'null' ? null : report(bends[figures]);
}
