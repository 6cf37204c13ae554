import { Refused, unaccountable } from '#lib/errors';
import { canAllFinish } from '#lib/gateway/upload/progress';

/** Bodies up to this size are read without asking the budget (decisions §4). */
export const FREE_BYTES = 256 * 1024;

/** Bodies up to this size may use the last part of the budget, which larger ones leave free. */
const SMALL_BYTES = 1024 * 1024;
const SMALL_PART = 8;

/** How long a body waits for room before it is refused, ms (decisions §4). */
const WAIT_MS = 10_000;

/** What large request bodies of a process may take together, of memory or of disk (decisions §4). */
export interface BodyBudget {
  /**
   * Begins a body, which has nothing yet.
   * @param keyId whose it is: bodies that are being received for one key get a quarter of the budget.
   * @param mostBytes what it may come to.
   */
  open(keyId: string, mostBytes: number): BodyShare;
}

/** What one body has of the budget, from its arrival to the end of its call. */
export interface BodyShare {
  /**
   * Makes it `bytes` in all, at most what it was opened for. It grows as bytes arrive, and in such an order
   * that bodies which wait for one another's room can all be received.
   * @returns null when it has them; else what to wait for, which rejects with `local_quota_not_configured`
   * after 10 s and when the share is released.
   */
  grow(bytes: number): Promise<void> | null;
  /** The body has come whole, in `bytes`: they are held until its call ends, but no longer count for its key. */
  received(bytes: number): void;
  /** Gives everything back; once is enough. */
  release(): void;
}

/**
 * @param totalBytes `BODY_BUDGET_BYTES`; a body that is larger than its part may have it when it is alone.
 * @param what is short when there is no room: "memory".
 */
export function createBodyBudget(totalBytes: number, what = 'memory', waitMs = WAIT_MS): BodyBudget {
  return new Budget(totalBytes, what, waitMs);
}

interface Waiter {
  readonly share: Share;
  readonly bytes: number;
  settle(error: Error | null): void;
}

class Budget implements BodyBudget {
  readonly totalBytes: number;
  readonly what: string;
  readonly waitMs: number;
  takenBytes = 0;
  /** Those that hold something and have not come whole. */
  readonly receiving = new Set<Share>();
  readonly #waiting: Waiter[] = [];

  constructor(totalBytes: number, what: string, waitMs: number) {
    this.totalBytes = totalBytes;
    this.what = what;
    this.waitMs = waitMs;
  }

  open(keyId: string, mostBytes: number): BodyShare {
    return new Share(this, keyId, mostBytes);
  }

  /** Whether `share` may have `more` now. */
  fits(share: Share, more: number): boolean {
    const others = [...this.receiving].filter((one) => one !== share);
    const ofKey = others.filter(({ keyId }) => keyId === share.keyId);
    const heldByKey = ofKey.reduce((sum, one) => sum + one.heldBytes, share.heldBytes);
    const part = share.mostBytes <= SMALL_BYTES ? 0 : Math.floor(this.totalBytes / SMALL_PART);
    return (
      hasRoom(share, more, this.totalBytes - part, this.takenBytes, others) &&
      hasRoom(share, more, Math.floor(this.totalBytes / 4), heldByKey, ofKey)
    );
  }

  wait(share: Share, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        share,
        bytes,
        settle: (error) => {
          clearTimeout(timer);
          this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
          if (error) reject(error);
          else resolve();
        },
      };
      const timer = setTimeout(() => waiter.settle(this.#full()), this.waitMs);
      this.#waiting.push(waiter);
    });
  }

  /** Something was given back: whoever waits gets what fits now, in the order in which they came. */
  serveWaiting(): void {
    for (const waiter of [...this.#waiting]) {
      if (waiter.share.take(waiter.bytes)) waiter.settle(null);
    }
  }

  dismiss(share: Share): void {
    for (const waiter of this.#waiting.filter((one) => one.share === share)) waiter.settle(this.#full());
  }

  #full(): Refused {
    return new Refused(unaccountable(`has no ${this.what} left for large request bodies now`));
  }
}

/**
 * Whether `share` may have `more` of `room` bytes, of which `taken` are. Who is alone in it may pass it. A
 * small body needs no more than it asks for; of large ones, all must be able to come whole.
 */
function hasRoom(share: Share, more: number, room: number, taken: number, others: readonly Share[]): boolean {
  if (taken === share.heldBytes) return true;
  if (more > room - taken) return false;
  if (share.mostBytes <= SMALL_BYTES) return true;
  const grown = { heldBytes: share.heldBytes + more, mostBytes: share.mostBytes };
  return canAllFinish([...others, grown], room - taken - more, room);
}

class Share implements BodyShare {
  readonly keyId: string;
  readonly mostBytes: number;
  heldBytes = 0;
  readonly #budget: Budget;

  constructor(budget: Budget, keyId: string, mostBytes: number) {
    this.#budget = budget;
    this.keyId = keyId;
    this.mostBytes = mostBytes;
  }

  grow(bytes: number): Promise<void> | null {
    return this.take(bytes) ? null : this.#budget.wait(this, bytes);
  }

  /** @returns false when it does not fit now. */
  take(bytes: number): boolean {
    const more = bytes - this.heldBytes;
    if (more <= 0) return true;
    if (!this.#budget.fits(this, more)) return false;
    this.#budget.takenBytes += more;
    this.heldBytes = bytes;
    this.#budget.receiving.add(this);
    return true;
  }

  received(bytes: number): void {
    if (!this.#budget.receiving.delete(this)) return;
    this.#budget.takenBytes -= this.heldBytes - bytes;
    this.heldBytes = bytes;
    this.#budget.serveWaiting();
  }

  release(): void {
    this.#budget.dismiss(this);
    this.#budget.receiving.delete(this);
    this.#budget.takenBytes -= this.heldBytes;
    this.heldBytes = 0;
    this.#budget.serveWaiting();
  }
}
