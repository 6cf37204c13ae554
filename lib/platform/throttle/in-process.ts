import type { Limit, Throttle } from '#lib/platform/throttle/throttle';

const mostEntries = 20_000;

interface Count {
  attempts: number;
  readonly endsAtMs: number;
}

/** Counts in the memory of this process; the oldest goes when there are too many. */
export class InProcessThrottle implements Throttle {
  readonly #counts = new Map<string, Count>();
  readonly #marked = new Set<string>();
  readonly #now: () => number;

  /** @param now ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  async claim(limits: readonly Limit[]): Promise<number> {
    const nowMs = this.#now();
    const counts = limits.map((limit) => ({ limit, count: this.#read(limit, nowMs) }));
    const full = counts.filter(({ limit, count }) => count.attempts >= limit.most);
    if (full.length > 0) {
      return Math.max(...full.map(({ count }) => Math.ceil((count.endsAtMs - nowMs) / 1000)));
    }
    for (const { count } of counts) count.attempts += 1;
    return 0;
  }

  async giveBack(limit: Limit): Promise<void> {
    const count = this.#read(limit, this.#now());
    count.attempts = Math.max(0, count.attempts - 1);
  }

  async forget({ id }: Limit): Promise<void> {
    this.#counts.delete(id);
  }

  async mark(id: string): Promise<void> {
    this.#marked.delete(id);
    this.#marked.add(id);
    if (this.#marked.size > mostEntries) dropOldest(this.#marked);
  }

  async isMarked(id: string): Promise<boolean> {
    return this.#marked.has(id);
  }

  #read({ id, windowSeconds }: Limit, nowMs: number): Count {
    const known = this.#counts.get(id);
    if (known && known.endsAtMs > nowMs) return known;
    const fresh = { attempts: 0, endsAtMs: nowMs + windowSeconds * 1000 };
    this.#counts.delete(id);
    this.#counts.set(id, fresh);
    if (this.#counts.size > mostEntries) dropOldest(this.#counts);
    return fresh;
  }
}

/** Insertion order is age. */
function dropOldest(entries: Map<string, unknown> | Set<string>): void {
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}
