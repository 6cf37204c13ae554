import { showCount } from '#lib/core/show-money';

/** A number of tokens in short form: 1048576 → "1.05M", 200000 → "200K", 950 → "950". */
export function showTokens(count: number): string {
  if (count >= 999_500) return `${rounded(count / 1e6)}M`;
  return count >= 1000 ? `${rounded(count / 1e3)}K` : showCount(count);
}

function rounded(value: number): string {
  return String(Number(value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)));
}
