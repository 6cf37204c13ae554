/** Nano-dollars in a dollar. All money in the gateway is an integer number of them (contract: money/nano-dollars). */
const NANO_PER_USD = 1_000_000_000n;

/**
 * Reads a decimal string of dollars ("10", "-0.25", "0.000000001") as nano-dollars.
 * @throws RangeError when it is not a plain decimal with at most 9 places.
 */
export function parseUsd(text: string): bigint {
  const match = /^([+-]?)(\d{1,12})(?:\.(\d{1,9}))?$/.exec(text.trim());
  if (!match) {
    throw new RangeError(
      `"${text}" is not an amount in dollars; write it like 10 or 0.25, with at most 9 decimals`,
    );
  }
  const [, sign, whole = '0', fraction = ''] = match;
  const nano = BigInt(whole) * NANO_PER_USD + BigInt(fraction.padEnd(9, '0'));
  return sign === '-' ? -nano : nano;
}

/**
 * An amount as people type it, as a plain decimal: "$1,000" → "1000", "-$25.50" → "-25.50". Anything else is returned
 * as it is, for `parseUsd` to refuse; "1,5" and "1.000,50" are not guessed at.
 */
export function plainUsd(typed: string): string {
  const match = /^([+-]?)\s*\$?\s*(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?$/.exec(typed.trim().replace('−', '-'));
  if (!match) return typed;
  const [, sign = '', whole = '', fraction = ''] = match;
  return `${sign}${whole.replaceAll(',', '')}${fraction}`;
}

/** The exact decimal of an amount, without trailing zeros: 1500000000n → "1.5". */
export function formatUsd(nano: bigint): string {
  const sign = nano < 0n ? '-' : '';
  const magnitude = nano < 0n ? -nano : nano;
  const fraction = (magnitude % NANO_PER_USD).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${magnitude / NANO_PER_USD}${fraction ? `.${fraction}` : ''}`;
}

/** `numerator / denominator` rounded up, for non-negative amounts: a call is rounded once, up. */
export function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
