import type { KeySnapshot } from '#lib/core/facts/snapshot';

/** A snapshot in memory, and when it was last known to be in force (monotonic ms). */
interface Remembered {
  readonly snapshot: KeySnapshot;
  readonly loadedMono: number;
  /** Read since the last sweep: it gets a second chance when room is needed. */
  used: boolean;
}

/** Snapshots by the hash of the secret, at most `most`; those not read go first. */
interface Memory {
  find(hash: string): Remembered | undefined;
  put(hash: string, snapshot: KeySnapshot, loadedMono: number): void;
  /** @returns whether anything was remembered of that key or workspace. */
  drop(id: string): boolean;
  clear(): void;
}

export function createMemory(most: number): Memory {
  const entries = new Map<string, Remembered>();
  /** Key id or workspace id → hashes. */
  const hashesOf = new Map<string, Set<string>>();

  function link(id: string, hash: string): void {
    const known = hashesOf.get(id);
    if (known === undefined) hashesOf.set(id, new Set([hash]));
    else known.add(hash);
  }

  function unlink(id: string, hash: string): void {
    const known = hashesOf.get(id);
    known?.delete(hash);
    if (known?.size === 0) hashesOf.delete(id);
  }

  function remove(hash: string): void {
    const entry = entries.get(hash);
    if (entry === undefined) return;
    entries.delete(hash);
    unlink(entry.snapshot.key.id, hash);
    unlink(entry.snapshot.workspace.id, hash);
  }

  function makeRoom(): void {
    for (const [hash, entry] of entries) {
      if (entries.size < most) return;
      if (!entry.used) {
        remove(hash);
        continue;
      }
      entry.used = false;
      entries.delete(hash);
      entries.set(hash, entry);
    }
  }

  return {
    find: (hash) => {
      const entry = entries.get(hash);
      if (entry !== undefined) entry.used = true;
      return entry;
    },
    put: (hash, snapshot, loadedMono) => {
      remove(hash);
      makeRoom();
      entries.set(hash, { snapshot, loadedMono, used: false });
      link(snapshot.key.id, hash);
      link(snapshot.workspace.id, hash);
    },
    drop: (id) => {
      const hashes = [...(hashesOf.get(id) ?? [])];
      for (const hash of hashes) remove(hash);
      return hashes.length > 0;
    },
    clear: () => {
      entries.clear();
      hashesOf.clear();
    },
  };
}

/** Hashes that no key has, remembered for a moment so that a flood of them costs no look-ups. */
interface UnknownKeys {
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
