/** The memory of one simulated provider: two servers in one process keep their own things. */
export class ProviderMemory {}

/** What is kept at most: the oldest goes first. */
const mostKept = 10_000;

/**
 * One kind of thing that a provider keeps between requests (a response, a video, an operation), by id.
 * A dialect has one of each kind; what is in it hangs on the server.
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

  /** In the order in which they were put. */
  list(memory: ProviderMemory): readonly T[] {
    return [...(this.#in.get(memory)?.values() ?? [])];
  }
}
