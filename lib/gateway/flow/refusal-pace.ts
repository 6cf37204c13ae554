/** Refusals of one key in a second that pass at full speed (contract: limits/refusal-pace). */
const FREE = 100;
const MOST_DELAY_MS = 1_000;

/** A key that is refused in floods is slowed, never left out of the log. */
export interface RefusalPace {
  /** How long this refusal waits, ms: 0 up to 100 a second, then 10 ms more for each, at most 1 s. */
  delayMs(keyId: string, nowMs: number): number;
}

export function createRefusalPace(): RefusalPace {
  let second = 0;
  let counts = new Map<string, number>();
  return {
    delayMs: (keyId, nowMs) => {
      const current = Math.floor(nowMs / 1000);
      if (current !== second) {
        second = current;
        counts = new Map();
      }
      const count = (counts.get(keyId) ?? 0) + 1;
      counts.set(keyId, count);
      return Math.min(MOST_DELAY_MS, Math.max(0, count - FREE) * 10);
    },
  };
}
