/**
 * A price of a table as a decimal string in dollars, exactly as its author wrote it: the shortest decimal of the number,
 * shifted, and only then rounded to 9 places. Pure.
 * @param shift decimal places to the left: 6 for a price of one token, which becomes that of a million.
 * @param times 3,600 for a price of a second, which becomes that of an hour.
 * @returns null for what is no price: negative, not a number, or a billion dollars and more.
 */
export function priceText(value: unknown, shift = 0, places = 9, times = 1n): string | null {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return null;
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (!match) return null;
  const [, whole = '0', fraction = '', exponent = '0'] = match;
  const power = Number(exponent) + shift - fraction.length + places;
  if (power > 30) return null;
  const digits = BigInt(whole + fraction) * times;
  const units = power >= 0 ? digits * 10n ** BigInt(power) : rounded(digits, -power);
  const text = units.toString().padStart(places + 1, '0');
  const dollars = text.slice(0, -places);
  const cents = text.slice(-places).replace(/0+$/, '');
  if (dollars.length > 9) return null;
  return cents === '' ? dollars : `${dollars}.${cents}`;
}

/** Divided by a power of ten, to the nearest. */
function rounded(digits: bigint, power: number): bigint {
  if (power > 400) return 0n;
  const divisor = 10n ** BigInt(power);
  return (digits + divisor / 2n) / divisor;
}
