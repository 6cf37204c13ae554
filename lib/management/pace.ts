const windowMs = 60_000;

/** At most so many requests a minute for each key, in this process. */
export interface Pace {
  /** @returns 0 when the request may pass, else the whole seconds to wait. */
  claim(keyId: string, nowMs: number): number;
}

/** Counts exact times, so that no minute of any start holds more than `most`. */
export function createPace(most: number): Pace {
  const times = new Map<string, number[]>();
  return {
    claim: (keyId, nowMs) => {
      const own = times.get(keyId) ?? [];
      const young = own.findIndex((at) => at > nowMs - windowMs);
      own.splice(0, young === -1 ? own.length : young);
      times.set(keyId, own);
      if (own.length < most) {
        own.push(nowMs);
        return 0;
      }
      return Math.max(1, Math.ceil(((own[0] ?? nowMs) + windowMs - nowMs) / 1000));
    },
  };
}
