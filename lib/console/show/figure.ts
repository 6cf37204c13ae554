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

/** Without an exponent, at most nine decimals. */
function plainDecimal(value: number): string {
  return value.toFixed(9).replace(/\.?0+$/, '');
}
