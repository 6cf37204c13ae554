import type { FigureKind } from '#lib/console/show/figure';

/** The marks of an axis from 0 up. */
export interface Axis {
  /** Ascending, evenly spaced, the last one not below the largest figure. */
  readonly ticks: readonly number[];
  /** Their labels, all in one unit with the same decimals. */
  readonly labels: readonly string[];
}

const mostTicks = 5;
const steps = [1, 2, 2.5, 5, 10];
const units = [
  { size: 1e9, name: 'B' },
  { size: 1e6, name: 'M' },
  { size: 1e3, name: 'k' },
] as const;

/**
 * Marks for figures from 0 to a largest one, as people would choose them: 0, 0.25, 0.5. Pure.
 * @param largest of the figures: dollars, a count, or ms; 0 or less counts as 1.
 */
export function axisOf(kind: FigureKind, largest: number): Axis {
  const most = largest > 0 ? largest : 1;
  const power = 10 ** Math.floor(Math.log10(most / (mostTicks - 1)));
  const found = steps.find((step) => step * power * (mostTicks - 1) >= most * 0.999_999) ?? 10;
  const step = kind === 'count' ? Math.max(1, Math.ceil(found * power)) : found * power;
  const count = Math.max(1, Math.ceil(most / step - 0.000_001));
  const ticks = Array.from({ length: count + 1 }, (_, at) => Number((at * step).toPrecision(12)));
  const top = ticks.at(-1) ?? step;
  const { size, name } = unitOf(kind, top);
  const decimals = decimalsOf(step / size);
  const sign = kind === 'money' ? '$' : '';
  return { ticks, labels: ticks.map((tick) => `${sign}${(tick / size).toFixed(decimals)}${name}`) };
}

function unitOf(kind: FigureKind, top: number): { readonly size: number; readonly name: string } {
  if (kind === 'span') return top >= 1000 ? { size: 1000, name: ' s' } : { size: 1, name: ' ms' };
  return units.find(({ size }) => top >= size) ?? { size: 1, name: '' };
}

/** The decimals that a step needs, nine at most. */
function decimalsOf(step: number): number {
  const text = step.toFixed(9).replace(/0+$/, '');
  return text.length - text.indexOf('.') - 1;
}
