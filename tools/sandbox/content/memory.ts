/** The memory of one simulated provider: two servers in one process do not share it. */
export class ProviderMemory {}

/** The most that is stored; the oldest is dropped first. */
const mostKept = 10_000;

/**
 * One kind of thing that a provider stores (a response, a video, an operation), by id. A dialect has one collection
 * for each kind; its contents belong to the server.
 */
export class Collection<T> {
  readonly #in = new WeakMap<ProviderMemory, Map<string, T>>();

  put(memory: ProviderMemory, id: string, value: T): void {
    const kept = this.#in.get(memory) ?? new Map<string, T>();
    this.#in.set(memory, kept.set(id, value));
    if (kept.size <= mostKept) return;
    for (const oldest of kept.keys()) {
      kept.delete(oldest);
      return;
    }
  }

  find(memory: ProviderMemory, id: string): T | null {
    return this.#in.get(memory)?.get(id) ?? null;
  }

  /** @returns whether it was there. */
  remove(memory: ProviderMemory, id: string): boolean {
    return this.#in.get(memory)?.delete(id) ?? false;
  }

  /** In the order in which they were stored. */
  list(memory: ProviderMemory): readonly T[] {
    return [...(this.#in.get(memory)?.values() ?? [])];
  }
}
