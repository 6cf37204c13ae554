const firstDelayMs = 1_000;
const longestDelayMs = 60_000;
/** With a longer Retry-After, the collector would never be asked again. */
const longestAskedMs = 3_600_000;

/**
 * How long to wait before a request is sent again: what the collector asks for, otherwise twice as long after
 * each failure, randomly between half and all of it, so that many gateways do not retry at once.
 * @param failures in a row, including this one.
 * @param random in [0, 1).
 */
export function delayOf(failures: number, askedMs: number | null, random: number): number {
  if (askedMs !== null) return Math.min(askedMs, longestAskedMs);
  const full = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 10));
  return Math.round(full * (0.5 + random / 2));
}

/** `Retry-After`: seconds, or a date of HTTP. null for anything else. @param nowMs ms since the epoch. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | null {
  const value = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  // A date is recognized by its comma and zone, because Date.parse accepts almost any string.
  const at = /^[A-Za-z]{3}, .* GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
