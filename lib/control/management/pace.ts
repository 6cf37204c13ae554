const windowMs = 60_000;
const mostKeys = 10_000;

/** Limits the requests a minute of each key, in this process (contract: control-plane/management-limit). */
export interface Pace {
  /** @returns 0 when the request may pass, else the whole seconds to wait. */
  claim(keyId: string, nowMs: number): number;
  /** Keys that it remembers now. */
  readonly size: number;
}

/**
 * Counts exact times, so that no 60 seconds contain more than `most`. Keys without a request in the last minute are
 * forgotten; only valid keys are counted, so that invalid ones cannot fill it.
 */
export function createPace(most: number): Pace {
  // In the order of the last admitted request: those at the front are the first to be forgotten.
  const times = new Map<string, number[]>();
  const forget = (nowMs: number) => {
    for (const [keyId, own] of times) {
      if ((own.at(-1) ?? 0) > nowMs - windowMs && times.size <= mostKeys) return;
      times.delete(keyId);
    }
  };
  return {
    claim: (keyId, nowMs) => {
      const own = times.get(keyId) ?? [];
      const young = own.findIndex((at) => at > nowMs - windowMs);
      own.splice(0, young === -1 ? own.length : young);
      if (own.length >= most) return Math.max(1, Math.ceil(((own[0] ?? nowMs) + windowMs - nowMs) / 1000));
      own.push(nowMs);
      times.delete(keyId);
      times.set(keyId, own);
      forget(nowMs);
      return 0;
    },
    get size() {
      return times.size;
    },
  };
}
