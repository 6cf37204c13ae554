import type { Limit, Throttle } from '#lib/platform/throttle/throttle';

const windowSeconds = 15 * 60;

/** Failed sign-ins that a window of 15 minutes may see. */
const most = { pair: 10, email: 50, address: 100 } as const;

interface SignInLimits {
  readonly pair: Limit;
  readonly address: Limit;
  readonly email: Limit;
}

function limitsOf(email: string, address: string): SignInLimits {
  return {
    pair: { id: `sign-in pair ${address} ${email}`, most: most.pair, windowSeconds },
    address: { id: `sign-in address ${address}`, most: most.address, windowSeconds },
    email: { id: `sign-in email ${email}`, most: most.email, windowSeconds },
  };
}

/**
 * Counts sign-in attempts. The pair of address and email has the tight limit, so that a stranger who knows an email
 * cannot lock its owner out; and where a user has signed in before, attempts from elsewhere do not count
 * (contract: control-plane/sign-in).
 */
export class SignInThrottle {
  readonly #throttle: Throttle;

  constructor(throttle: Throttle) {
    this.#throttle = throttle;
  }

  /** Counts an attempt; false if it is not allowed. After a success, `clear` takes it back. */
  async claim(email: string, address: string): Promise<boolean> {
    return (await this.#throttle.claim(await this.#limits(email, address))) === 0;
  }

  /** The attempt succeeded: it and the pair's earlier failures no longer count. */
  async clear(email: string, address: string): Promise<void> {
    const { pair } = limitsOf(email, address);
    const [, ...others] = await this.#limits(email, address);
    await this.#throttle.forget(pair);
    for (const limit of others) await this.#throttle.giveBack(limit);
    await this.#throttle.mark(pair.id);
  }

  /** The pair first. */
  async #limits(email: string, address: string): Promise<Limit[]> {
    const limits = limitsOf(email, address);
    const proven = await this.#throttle.isMarked(limits.pair.id);
    return proven ? [limits.pair, limits.address] : [limits.pair, limits.address, limits.email];
  }
}
