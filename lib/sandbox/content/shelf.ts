/** The memory of one simulated provider: two servers in one process keep their own things. */
export class Shelf {}

/** What is kept at most: the oldest goes first. */
const mostKept = 10_000;

/**
 * One kind of thing that a provider keeps between requests (a response, a video, an operation), by id.
 * A dialect has one of each kind; what is in it hangs on the server.
 */
export class Drawer<T> {
  readonly #in = new WeakMap<Shelf, Map<string, T>>();

  put(shelf: Shelf, id: string, value: T): void {
    const kept = this.#in.get(shelf) ?? new Map<string, T>();
    this.#in.set(shelf, kept.set(id, value));
    if (kept.size <= mostKept) return;
    for (const oldest of kept.keys()) {
      kept.delete(oldest);
      return;
    }
  }

  find(shelf: Shelf, id: string): T | null {
    return this.#in.get(shelf)?.get(id) ?? null;
  }

  /** @returns whether it was there. */
  remove(shelf: Shelf, id: string): boolean {
    return this.#in.get(shelf)?.delete(id) ?? false;
  }

  /** In the order in which they were put. */
  list(shelf: Shelf): readonly T[] {
    return [...(this.#in.get(shelf)?.values() ?? [])];
  }
}
