/**
 * An amount to read: "$12.50", "$0.31", "$0.0000042". Two decimals from a dollar up; below, up to six
 * digits after the zeros, so that a small amount never looks like nothing.
 * @param usd exact decimal string, as `formatUsd` and the call log give it.
 */
export function showMoney(usd: string): string {
  return show(usd, 'half');
}

/** @param direction of the amount without its sign. */
function show(usd: string, direction: Direction): string {
  const negative = usd.startsWith('-');
  const [whole = '0', fraction = ''] = usd.replace('-', '').split('.');
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  const places = whole !== '0' ? 2 : Math.max(2, zeros + 6);
  const { units, decimals } = round(whole, fraction, places, direction);
  const trimmed = decimals.replace(/0+$/, '').padEnd(2, '0');
  if (units === '0' && /^0*$/.test(decimals)) return '$0.00';
  return `${negative ? '−' : ''}$${grouped(units)}.${trimmed}`;
}

/**
 * An amount to read, rounded down with the digits of `showMoney`: a balance never shows more than can be spent
 * ($34.995287 reads "$34.99"), and a negative line of the ledger never less than was taken.
 * @param usd exact decimal string.
 */
export function showMoneyDown(usd: string): string {
  return show(usd, usd.startsWith('-') ? 'up' : 'down');
}

/** The most decimals that any of the amounts has; two at least. */
export function placesOf(amounts: readonly string[]): number {
  return amounts.reduce((most, usd) => Math.max(most, usd.split('.')[1]?.length ?? 0), 2);
}

/** The whole amount, nothing rounded: "−$1,234.500000000". @param places as `placesOf` gives it. */
export function exactMoney(usd: string, places = 2): string {
  const [whole = '0', fraction = ''] = usd.replace('-', '').split('.');
  return `${usd.startsWith('-') ? '−' : ''}$${grouped(whole)}.${fraction.padEnd(places, '0')}`;
}

type Direction = 'up' | 'half' | 'down';

/** Rounds to `places` decimals. */
function round(
  whole: string,
  fraction: string,
  places: number,
  direction: Direction,
): { units: string; decimals: string } {
  const kept = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'));
  const cut = fraction.slice(places);
  const more = { up: /[1-9]/.test(cut), half: cut.charAt(0) >= '5', down: false }[direction];
  const up = more ? 1n : 0n;
  const digits = (kept + up).toString().padStart(places + 1, '0');
  return { units: digits.slice(0, -places), decimals: digits.slice(-places) };
}

/** "1234567" → "1,234,567". */
function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A whole number to read: 1234567 → "1,234,567". */
export function showCount(count: number): string {
  return grouped(Math.trunc(count).toString());
}
