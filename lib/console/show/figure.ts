import { showSpan } from '#lib/console/show/time';
import { showCount, showMoney } from '#lib/core/show-money';

/** Dollars, pieces, or ms. */
export type FigureKind = 'money' | 'count' | 'span';

/** A figure, formatted: "$1.20", "1,234", "320 ms"; a dash if there is none. */
export function showFigure(kind: FigureKind, value: number | null): string {
  if (value === null) return '–';
  if (kind === 'span') return showSpan(value);
  return kind === 'count' ? showCount(value) : showMoney(plainDecimal(value));
}

/** The same as short as possible: "$1.2k", "3.4M"; for an axis. */
export function showShort(kind: FigureKind, value: number): string {
  if (kind === 'span') return value >= 1000 ? `${trim(value / 1000)} s` : `${trim(value)} ms`;
  const sign = kind === 'money' ? '$' : '';
  for (const [unit, size] of units) if (value >= size) return `${sign}${trim(value / size)}${unit}`;
  return kind === 'money' ? `$${plainDecimal(Number(value.toPrecision(3)))}` : trim(value);
}

const units = [
  ['B', 1_000_000_000],
  ['M', 1_000_000],
  ['k', 1_000],
] as const;

function trim(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Without an exponent, at most nine decimals. */
function plainDecimal(value: number): string {
  return value.toFixed(9).replace(/\.?0+$/, '');
}
