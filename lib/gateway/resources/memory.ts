import type { Resource, ResourceKind } from '#lib/core/facts/resource';

/** How long a resource can be named after it was made (contract: jobs/lifetime), ms. */
export const keptMs = 30 * 24 * 3_600_000;

/** The name of a resource in memory and in the change feed. */
export function nameOf(workspaceId: string, kind: ResourceKind, id: string): string {
  return `${workspaceId} ${kind} ${id}`;
}

export interface Remembered {
  resource: Resource;
  /** When it was last in the database, or kept here; monotonic ms. */
  readMono: number;
  /** A SIGKILL can no longer lose it. */
  safe: boolean;
}

/** The resources that this process has met last, and those that it has seen deleted. */
export interface ResourceMemory {
  find(name: string): Remembered | null;
  put(name: string, remembered: Remembered): void;
  /** Another process may know better: the next look-up asks the database. */
  drop(name: string): void;
  /** Deleted at the provider: unknown from now on. */
  bury(name: string): void;
  isBuried(name: string): boolean;
  clear(): void;
}

/** Bounded: what was not asked for longest goes first, of both kinds. */
export function createResourceMemory(most: number): ResourceMemory {
  const known = new Map<string, Remembered>();
  const buried = new Set<string>();
  return {
    find: (name) => {
      const found = known.get(name);
      if (found === undefined) return null;
      known.delete(name);
      known.set(name, found);
      return found;
    },
    put: (name, remembered) => {
      known.delete(name);
      known.set(name, remembered);
      if (known.size > most) dropFirst(known);
    },
    drop: (name) => {
      known.delete(name);
    },
    bury: (name) => {
      known.delete(name);
      buried.add(name);
      if (buried.size > most) dropFirst(buried);
    },
    isBuried: (name) => buried.has(name),
    clear: () => known.clear(),
  };
}

function dropFirst(entries: { keys(): IterableIterator<string>; delete(name: string): boolean }): void {
  for (const first of entries.keys()) {
    entries.delete(first);
    return;
  }
}
