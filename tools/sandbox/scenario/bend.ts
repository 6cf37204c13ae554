import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';

/** How each kind of usage report changes the true figures. */
export const bends: Readonly<Record<Exclude<UsageFigures, 'none' | 'null'>, (value: number) => number>> = {
  honest: (value) => value,
  negative: (value) => -value,
  absurd: (value) => (value === 0 ? 0 : 1e12),
  fraction: (value) => value + 0.5,
};
