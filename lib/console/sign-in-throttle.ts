const windowMs = 15 * 60_000;
const mostEntries = 20_000;

/** Failed sign-ins that a window of 15 minutes may see. */
const most = { pair: 10, email: 50, address: 100 } as const;

interface Count {
  failures: number;
  endsAtMs: number;
}

/**
 * Counts sign-in attempts in memory. The pair of address and e-mail has the tight limit, so that a
 * stranger who knows an e-mail does not lock its owner out; and where somebody has signed in before,
 * what others guess from elsewhere does not count.
 */
export class SignInThrottle {
  readonly #counts = new Map<string, Count>();
  readonly #proven = new Set<string>();

  /** Books an attempt; false when it may not be made. A success takes it back with `clear`. */
  claim(email: string, address: string, nowMs: number): boolean {
    const counts = this.#keys(email, address).map(([name, limit]) => ({
      count: this.#read(name, nowMs),
      limit,
    }));
    if (counts.some(({ count, limit }) => count.failures >= limit)) return false;
    for (const { count } of counts) count.failures += 1;
    return true;
  }

  /** The attempt succeeded: it and the pair's earlier failures no longer count. */
  clear(email: string, address: string, nowMs: number): void {
    const pair = pairOf(email, address);
    this.#counts.delete(pair);
    for (const [name] of this.#keys(email, address)) {
      if (name === pair) continue;
      const count = this.#read(name, nowMs);
      count.failures = Math.max(0, count.failures - 1);
    }
    this.#proven.delete(pair);
    this.#proven.add(pair);
    if (this.#proven.size > mostEntries) dropOldest(this.#proven);
  }

  #keys(email: string, address: string): [name: string, limit: number][] {
    const pair = pairOf(email, address);
    const names: [name: string, limit: number][] = [
      [pair, most.pair],
      [`address ${address}`, most.address],
    ];
    return this.#proven.has(pair) ? names : [...names, [`email ${email}`, most.email]];
  }

  #read(name: string, nowMs: number): Count {
    const known = this.#counts.get(name);
    if (known && known.endsAtMs > nowMs) return known;
    const fresh = { failures: 0, endsAtMs: nowMs + windowMs };
    this.#counts.delete(name);
    this.#counts.set(name, fresh);
    if (this.#counts.size > mostEntries) dropOldest(this.#counts);
    return fresh;
  }
}

function pairOf(email: string, address: string): string {
  return `pair ${address} ${email}`;
}

/** Insertion order is age. */
function dropOldest(entries: Map<string, unknown> | Set<string>): void {
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}

const slot = Symbol.for('model-gateway.sign-in-throttle');

/** The throttle of this process. */
export function getSignInThrottle(): SignInThrottle {
  const holder = globalThis as Record<symbol, unknown>;
  const known = holder[slot];
  if (known) return throttleIn(known);
  const made = new SignInThrottle();
  holder[slot] = made;
  return made;
}

/** The slot is written by `getSignInThrottle` alone; another bundle's class has the same shape. */
function throttleIn(value: unknown): SignInThrottle {
  return value as SignInThrottle;
}
