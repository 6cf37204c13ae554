/** Drains of one process (decisions §6). */
const MOST = 256;
/** Drains of a key without a concurrency limit. */
const MOST_OF_KEY = 16;

/** The answers that this process reads on after their clients left, for their usage. */
export interface Drains {
  /**
   * Takes a place for one more; the drain holds no concurrency slot.
   * @param concurrency the key's own limit, which is then its limit of drains; null: 16.
   * @param must it is heard out however many there are.
   * @param cut ends it early: its call is then charged by estimate.
   * @returns how to give the place back; null: there is none, the connection is to be closed.
   */
  begin(keyId: string, concurrency: number | null, must: boolean, cut: () => void): (() => void) | null;
  /** Ends all that run, and lets none begin: the process stops. */
  stop(): void;
}

/** @param most drains at once, of all keys together. */
export function createDrains(most = MOST): Drains {
  const running = new Set<() => void>();
  const ofKeys = new Map<string, number>();
  let stopped = false;

  return {
    begin(keyId, concurrency, must, cut) {
      const ofKey = ofKeys.get(keyId) ?? 0;
      const room = !stopped && running.size < most && ofKey < (concurrency ?? MOST_OF_KEY);
      if (!room && !must) return null;
      running.add(cut);
      ofKeys.set(keyId, ofKey + 1);
      return () => {
        if (!running.delete(cut)) return;
        const left = (ofKeys.get(keyId) ?? 1) - 1;
        if (left > 0) ofKeys.set(keyId, left);
        else ofKeys.delete(keyId);
      };
    },

    stop() {
      stopped = true;
      for (const cut of [...running]) cut();
    },
  };
}
