import { showDay } from '#lib/console/show/time';
import { exactMoney, placesOf, showCount } from '#lib/core/show-money';

/** What last week's calls would have cost at another price, as the operation returns it. */
export interface TriedPrice {
  readonly from: string;
  readonly complete: boolean;
  readonly calls: number;
  readonly charged: string;
  readonly preview: string;
  readonly difference: string;
  readonly unpriced: number;
  readonly unpricedCharged: string;
}

/** The same, formatted: amounts are not rounded, and all have as many decimals as the longest. */
export interface TriedPriceRow {
  readonly calls: string;
  readonly charged: string;
  readonly preview: string;
  readonly difference: string;
  readonly direction: 'more' | 'less' | 'same';
  /** What the figures leave out; null: nothing. */
  readonly note: string | null;
}

export function triedPriceOf(effect: TriedPrice): TriedPriceRow {
  const { from, complete, calls, charged, preview, difference, unpriced, unpricedCharged } = effect;
  const places = placesOf([charged, preview, difference]);
  const signed = difference.startsWith('-') || Number(difference) === 0 ? '' : '+';
  const notes = [
    complete ? null : `Only the newest calls were included, since ${showDay(Date.parse(from), 'UTC')}.`,
    unpriced === 0
      ? null
      : `${showCount(unpriced)} more, charged ${exactMoney(unpricedCharged)}, cannot be repriced from the log.`,
  ].filter((note) => note !== null);
  return {
    calls: showCount(calls),
    charged: exactMoney(charged, places),
    preview: exactMoney(preview, places),
    difference: `${signed}${exactMoney(difference, places)}`,
    direction: signed === '+' ? 'more' : difference.startsWith('-') ? 'less' : 'same',
    note: notes.length > 0 ? notes.join(' ') : null,
  };
}
