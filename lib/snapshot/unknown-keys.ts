/** Hashes that no key has, remembered for a moment so that a flood of them costs no look-ups. */
export interface UnknownKeys {
  has(hash: string, nowMs: number): boolean;
  add(hash: string, nowMs: number): void;
  clear(): void;
}

/**
 * @param options at most `most` hashes, each kept `keepMs`; the oldest goes first
 * (contract: authentication/unknown-keys).
 */
export function createUnknownKeys(options: { most: number; keepMs: number }): UnknownKeys {
  const untilMs = new Map<string, number>();
  return {
    has: (hash, nowMs) => {
      const until = untilMs.get(hash);
      if (until === undefined) return false;
      if (nowMs < until) return true;
      untilMs.delete(hash);
      return false;
    },
    add: (hash, nowMs) => {
      untilMs.delete(hash);
      untilMs.set(hash, nowMs + options.keepMs);
      if (untilMs.size <= options.most) return;
      const oldest = untilMs.keys().next();
      if (!oldest.done) untilMs.delete(oldest.value);
    },
    clear: () => untilMs.clear(),
  };
}
