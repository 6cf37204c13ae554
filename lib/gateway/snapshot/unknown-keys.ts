/** Hashes that no key has, remembered for a moment so that a flood of them costs no look-ups. */
export interface UnknownKeys {
  has(hash: string, nowMono: number): boolean;
  add(hash: string, nowMono: number): void;
  clear(): void;
}

/**
 * @param options at most `most` hashes, each kept `keepMs`; the oldest goes first
 * (contract: authentication/unknown-keys).
 */
export function createUnknownKeys(options: { most: number; keepMs: number }): UnknownKeys {
  const untilMono = new Map<string, number>();
  return {
    has: (hash, nowMono) => {
      const until = untilMono.get(hash);
      if (until === undefined) return false;
      if (nowMono < until) return true;
      untilMono.delete(hash);
      return false;
    },
    add: (hash, nowMono) => {
      untilMono.delete(hash);
      untilMono.set(hash, nowMono + options.keepMs);
      if (untilMono.size <= options.most) return;
      const oldest = untilMono.keys().next();
      if (!oldest.done) untilMono.delete(oldest.value);
    },
    clear: () => untilMono.clear(),
  };
}
