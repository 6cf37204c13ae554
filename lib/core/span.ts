const unitsMs = { h: 3_600_000, min: 60_000, s: 1_000, ms: 1 } as const;

/** How people write the units: the first letters, or a short form. */
const words: readonly (readonly [RegExp, number])[] = [
  [/^(h|hrs?|hours?)$/, unitsMs.h],
  [/^(m|mins?|minutes?)$/, unitsMs.min],
  [/^(s|secs?|seconds?)$/, unitsMs.s],
  [/^(ms|msecs?|milliseconds?)$/, unitsMs.ms],
];

/** A time as people write it, exactly: "250 ms", "1.5 s", "90 s", "2 min", "1 h". */
export function plainSpan(ms: number): string {
  const [unit, factor] = Object.entries(unitsMs).find(([, one]) => ms >= one && ms % one === 0) ?? ['ms', 1];
  if (unit === 'ms' && ms >= unitsMs.s) return `${ms / unitsMs.s} s`;
  return `${ms / factor} ${unit}`;
}

/**
 * The ms of a time as people write it: "30 s", "2 min", "1 min 30 s", "1.5s". @returns null: it is none, or has no
 * unit, without which it is unclear what was meant.
 */
export function parseSpan(text: string): number | null {
  const trimmed = text.trim().toLowerCase();
  if (!/^(\d{1,12}(\.\d{1,3})?\s*[a-z]+\s*)+$/.test(trimmed)) return null;
  let totalMs = 0;
  for (const [, count, word = ''] of trimmed.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    const unitMs = words.find(([form]) => form.test(word))?.[1];
    if (unitMs === undefined) return null;
    totalMs += Math.round(Number(count) * unitMs);
  }
  return totalMs;
}
