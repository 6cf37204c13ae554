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
 * stranger who knows an e-mail does not lock its owner out.
 */
export class SignInThrottle {
  readonly #counts = new Map<string, Count>();

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
    const [pair, ...rest] = this.#keys(email, address);
    if (pair) this.#counts.delete(pair[0]);
    for (const [name] of rest) {
      const count = this.#read(name, nowMs);
      count.failures = Math.max(0, count.failures - 1);
    }
  }

  #keys(email: string, address: string): [name: string, limit: number][] {
    return [
      [`pair ${address} ${email}`, most.pair],
      [`email ${email}`, most.email],
      [`address ${address}`, most.address],
    ];
  }

  #read(name: string, nowMs: number): Count {
    const known = this.#counts.get(name);
    if (known && known.endsAtMs > nowMs) return known;
    const fresh = { failures: 0, endsAtMs: nowMs + windowMs };
    this.#counts.delete(name);
    this.#counts.set(name, fresh);
    if (this.#counts.size > mostEntries) {
      // Insertion order is age: the oldest window goes first.
      for (const oldest of this.#counts.keys()) {
        this.#counts.delete(oldest);
        break;
      }
    }
    return fresh;
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
