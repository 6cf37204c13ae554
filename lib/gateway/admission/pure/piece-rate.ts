/**
 * The rate of a piece as its hold counts it (contract: money/media-hold): the entry of a price map that fits, else its
 * dearest one, since what is unknown may be the most expensive.
 * @param names entries that fit, the closest first.
 * @returns nano-dollars per million pieces, as the price has it; 0n without a price.
 */
export function pieceRate(
  rate: bigint | Readonly<Record<string, bigint>> | undefined,
  names: readonly string[],
): bigint {
  if (rate === undefined) return 0n;
  if (typeof rate === 'bigint') return rate;
  for (const name of names) if (Object.hasOwn(rate, name)) return rate[name] ?? 0n;
  let dearest = 0n;
  for (const one of Object.values(rate)) if (one > dearest) dearest = one;
  return dearest;
}
