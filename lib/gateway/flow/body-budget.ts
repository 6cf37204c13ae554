import { Refused, unaccountable } from '#lib/core/errors';
import { Ahead, canAllFinish, growInOrder, type Lack } from '#lib/gateway/flow/upload/progress';

/** Bodies up to this size take nothing of the budget (contract: body/budget). */
export const FREE_BYTES = 256 * 1024;

/** One eighth of the budget is reserved for bodies up to this size. */
const SMALL_BYTES = 1024 * 1024;
const RESERVED_FRACTION = 8;

/** How long a body waits for room before it is refused, ms (contract: body/budget). */
const WAIT_MS = 10_000;
/** From then on, bodies that come later no longer go before it, ms. */
const AGE_MS = 2_000;

/**
 * Limits the memory, or the disk space, that all large request bodies of a process take together
 * (contract: body/budget).
 */
export interface BodyBudget {
  /**
   * Opens an empty share for one body.
   * @param keyId its key: bodies being received for one key may take a quarter of the budget together.
   * @param mostBytes the largest size that the body can reach.
   */
  open(keyId: string, mostBytes: number): BodyShare;
}

/** The part of the budget that one body holds, from its arrival to the end of its call. */
export interface BodyShare {
  /**
   * Raises the share to `bytes` in total, at most the size it was opened for. Shares grow as bytes arrive, and only
   * while all bodies being received can still be completed, so that they cannot deadlock.
   * @returns null when granted at once; else a promise that rejects with `local_quota_not_configured` after 10 s,
   * or when the share is released.
   */
  grow(bytes: number): Promise<void> | null;
  /** The body is complete and takes `bytes`: these stay held until its call ends, but no longer count for its key. */
  received(bytes: number): void;
  /** Returns everything to the budget. Idempotent. */
  release(): void;
}

/**
 * @param totalBytes `BODY_BUDGET_BYTES`; a body that exceeds it is accepted while no other body holds any of it.
 * @param what the resource, for the refusal when none is left: "memory", "disk space".
 * @param waitMs how long a body waits for room.
 */
export function createBodyBudget(totalBytes: number, what = 'memory', waitMs = WAIT_MS): BodyBudget {
  return new Budget(totalBytes, what, waitMs);
}

interface Waiter {
  readonly share: Share;
  readonly bytes: number;
  aged: boolean;
  settle(error: Error | null): void;
}

class Budget implements BodyBudget {
  readonly totalBytes: number;
  readonly what: string;
  readonly waitMs: number;
  takenBytes = 0;
  /** Shares that hold something and whose body is not complete. */
  readonly receiving = new Set<Share>();
  /** What the receiving shares of each key hold together, bytes. */
  readonly #heldByKey = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  /** What bodies of up to 1 MiB hold together, bytes. */
  smallBytes = 0;

  constructor(totalBytes: number, what: string, waitMs: number) {
    this.totalBytes = totalBytes;
    this.what = what;
    this.waitMs = waitMs;
  }

  open(keyId: string, mostBytes: number): BodyShare {
    return new Share(this, keyId, mostBytes);
  }

  /** Which room is too small for `share` to grow by `more` bytes now. */
  lack(share: Share, more: number): Lack {
    const small = isSmall(share.mostBytes);
    const reserved = small ? 0 : Math.floor(this.totalBytes / RESERVED_FRACTION);
    const whole = { bytes: this.totalBytes - reserved, takenBytes: this.takenBytes };
    const heldByKey = this.#heldByKey.get(share.keyId) ?? 0;
    const ofKey = { bytes: Math.floor(this.totalBytes / 4), takenBytes: heldByKey };
    // The bodies being received are looked at only when there is room at all.
    if (!hasRoom(share, more, whole)) return 'whole';
    if (!hasRoom(share, more, ofKey)) return 'key';
    if (small) return null;
    const others = [...this.receiving].filter((one) => one !== share);
    if (!keepsProgress(share, more, whole, others)) return 'whole';
    const sameKey = others.filter(({ keyId }) => keyId === share.keyId);
    return keepsProgress(share, more, ofKey, sameKey) ? null : 'key';
  }

  /** A body being received for `keyId` holds `bytes` more, or less if negative. */
  count(keyId: string, bytes: number): void {
    const held = (this.#heldByKey.get(keyId) ?? 0) + bytes;
    if (held === 0) this.#heldByKey.delete(keyId);
    else this.#heldByKey.set(keyId, held);
  }

  /** Whether a body that holds nothing must let those go first that have waited long. */
  holdsBack(share: Share, bytes: number): boolean {
    if (share.heldBytes > 0) return false;
    const ahead = new Ahead();
    for (const waiter of this.#waiting) {
      // They stand in the order in which they came.
      if (!waiter.aged) break;
      ahead.note(waiter.share.keyId, this.lack(waiter.share, waiter.bytes - waiter.share.heldBytes));
      if (ahead.holdsBack(share.keyId, () => this.#fitsBesides(share, bytes))) return true;
    }
    return false;
  }

  /** Whether it fits into the part that is reserved for small bodies, which larger ones never get. */
  #fitsBesides({ mostBytes }: Share, bytes: number): boolean {
    return isSmall(mostBytes) && this.smallBytes + bytes <= Math.floor(this.totalBytes / RESERVED_FRACTION);
  }

  wait(share: Share, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        share,
        bytes,
        aged: false,
        settle: (error) => {
          clearTimeout(timer);
          clearTimeout(ageing);
          this.#waiting.delete(waiter);
          if (error) reject(error);
          else resolve();
        },
      };
      const timer = setTimeout(() => waiter.settle(this.#full()), this.waitMs);
      const ageing = setTimeout(() => {
        waiter.aged = true;
      }, AGE_MS);
      this.#waiting.add(waiter);
    });
  }

  /** Grants waiting growth that fits now, oldest first. Called whenever bytes are returned. */
  serveWaiting(): void {
    growInOrder(
      this.#waiting,
      (waiter) => {
        const lack = waiter.share.take(waiter.bytes);
        if (lack === null) waiter.settle(null);
        return lack;
      },
      ({ share, bytes }) => this.#fitsBesides(share, bytes),
    );
  }

  dismiss(share: Share): void {
    for (const waiter of this.#waiting) if (waiter.share === share) waiter.settle(this.#full());
  }

  #full(): Refused {
    return new Refused(unaccountable(`has no ${this.what} left for large request bodies now`));
  }
}

function isSmall(mostBytes: number): boolean {
  return mostBytes <= SMALL_BYTES;
}

/** All of the budget that a body may use, or the part of its key. */
interface Room {
  readonly bytes: number;
  readonly takenBytes: number;
}

/** Whether `more` bytes are free for `share`. A share that is the only one in the room may exceed it. */
function hasRoom({ heldBytes }: Share, more: number, { bytes, takenBytes }: Room): boolean {
  return takenBytes === heldBytes || more <= bytes - takenBytes;
}

/** Whether all large bodies in the room can still be completed after `share` has taken `more` bytes of it. */
function keepsProgress(share: Share, more: number, room: Room, others: readonly Share[]): boolean {
  if (room.takenBytes === share.heldBytes) return true;
  const grown = { heldBytes: share.heldBytes + more, mostBytes: share.mostBytes };
  return canAllFinish([...others, grown], room.bytes - room.takenBytes - more, room.bytes);
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
    const goes = !this.#budget.holdsBack(this, bytes) && this.take(bytes) === null;
    return goes ? null : this.#budget.wait(this, bytes);
  }

  /** @returns null when granted; else which room is too small now. */
  take(bytes: number): Lack {
    const more = bytes - this.heldBytes;
    if (more <= 0) return null;
    const lack = this.#budget.lack(this, more);
    if (lack !== null) return lack;
    this.#take(more);
    this.#budget.count(this.keyId, this.#budget.receiving.has(this) ? more : bytes);
    this.heldBytes = bytes;
    this.#budget.receiving.add(this);
    return null;
  }

  /** @param bytes more, or less if negative. */
  #take(bytes: number): void {
    this.#budget.takenBytes += bytes;
    if (isSmall(this.mostBytes)) this.#budget.smallBytes += bytes;
  }

  received(bytes: number): void {
    if (!this.#budget.receiving.delete(this)) return;
    this.#budget.count(this.keyId, -this.heldBytes);
    this.#take(bytes - this.heldBytes);
    this.heldBytes = bytes;
    this.#budget.serveWaiting();
  }

  release(): void {
    this.#budget.dismiss(this);
    // Nothing comes free: no waiting body would fit now.
    if (this.heldBytes === 0) return;
    if (this.#budget.receiving.delete(this)) this.#budget.count(this.keyId, -this.heldBytes);
    this.#take(-this.heldBytes);
    this.heldBytes = 0;
    this.#budget.serveWaiting();
  }
}
