/** The value below which `share` (0 to 1) of the sorted values lie; 0 of none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}

/** The middle of a few rounds; of an even number the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1
    ? percentile(sorted, 0.5)
    : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}
