import { Refused, unaccountable } from '#lib/core/errors';

/** Bodies up to this size take nothing of the budget (contract: body/budget). */
export const FREE_BYTES = 256 * 1024;

/** One eighth of the budget is reserved for bodies up to this size. */
const SMALL_BYTES = 1024 * 1024;

/** How long a body waits for room before it is refused, ms (contract: body/budget). */
const WAIT_MS = 10_000;

export type BodyBudget = Pick<Budget, 'open'>;
export type BodyShare = Pick<Share, 'grow' | 'received' | 'release'>;

/**
 * @param totalBytes `BODY_BUDGET_BYTES`; a body that exceeds it is accepted while no other body holds any of it.
 * @param what the resource, for the refusal when none is left: "memory", "disk space".
 * @param waitMs how long a body waits for room.
 */
export function createBodyBudget(totalBytes: number, what = 'memory', waitMs = WAIT_MS): BodyBudget {
  return new Budget(totalBytes, what, waitMs);
}

/** What a body may lack: room in the part of a key, by its id; null: in the whole budget. */
type Room = string | null;

interface Waiter {
  readonly share: Share;
  /** What the share is to hold, bytes. */
  readonly bytes: number;
  room: Room;
  settle(error: Error | null): void;
}

/**
 * Limits the memory, or the disk space, that all large request bodies of a process take together
 * (contract: body/budget). Four rules:
 *
 * 1. A share grows as bytes arrive, in two rooms: the whole budget, and, until the body is complete, its key's quarter
 *    of it. A body that is alone in a room may exceed it.
 * 2. It grows only while all bodies that are being received can still be completed; otherwise the rooms could fill with
 *    parts of bodies none of which can ever be completed.
 * 3. If there is no room now, it waits, at most 10 s. Waiting bodies are served in the order in which they came.
 * 4. A body that holds nothing yet takes nothing from a room that another body waits for. A body that holds something
 *    may, because what it holds is what will be freed.
 */
class Budget {
  readonly #totalBytes: number;
  readonly #reservedBytes: number;
  readonly #what: string;
  readonly #waitMs: number;
  /** What all bodies hold, and what small ones hold of it, bytes. */
  #takenBytes = 0;
  #smallBytes = 0;
  /** Shares that hold something and whose body is not complete. */
  readonly #receiving = new Set<Share>();
  readonly #waiting = new Set<Waiter>();

  constructor(totalBytes: number, what: string, waitMs: number) {
    this.#totalBytes = totalBytes;
    this.#reservedBytes = Math.floor(totalBytes / 8);
    this.#what = what;
    this.#waitMs = waitMs;
  }

  /**
   * Opens an empty share for one body.
   * @param keyId its key: bodies being received for one key may take a quarter of the budget together.
   * @param mostBytes the largest size that the body can reach.
   */
  open(keyId: string, mostBytes: number): BodyShare {
    return new Share(this, keyId, mostBytes);
  }

  grow(share: Share, bytes: number): Promise<void> | null {
    const wanted = new Set(Array.from(this.#waiting, ({ room }) => room));
    if (this.#isBehind(share, bytes, wanted)) {
      return this.#wait(share, bytes, wanted.has(share.keyId) ? share.keyId : null);
    }
    const room = this.#take(share, bytes);
    return room === undefined ? null : this.#wait(share, bytes, room);
  }

  /** The body is complete and holds `bytes`. */
  received(share: Share, bytes: number): void {
    if (!this.#receiving.delete(share)) return;
    this.#hold(share, bytes);
    this.#serveWaiting();
  }

  release(share: Share): void {
    for (const waiter of this.#waiting) if (waiter.share === share) waiter.settle(this.#full());
    this.#receiving.delete(share);
    // If it held nothing, nothing is freed, so no waiting body would fit now.
    if (share.heldBytes === 0) return;
    this.#hold(share, 0);
    this.#serveWaiting();
  }

  /** Grows a share if there is room. @returns undefined when it has grown; else the room that is too small now. */
  #take(share: Share, bytes: number): Room | undefined {
    const more = bytes - share.heldBytes;
    if (more <= 0) return undefined;
    const others = [...this.#receiving].filter((one) => one !== share);
    const ofKey = others.filter(({ keyId }) => keyId === share.keyId);
    const ofKeyBytes = ofKey.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    const keyRoom = { bytes: Math.floor(this.#totalBytes / 4), othersBytes: ofKeyBytes, receiving: ofKey };
    if (!fits(share, more, keyRoom)) return share.keyId;
    const wholeRoom = {
      bytes: this.#totalBytes - (share.isSmall ? 0 : this.#reservedBytes),
      othersBytes: this.#takenBytes - share.heldBytes,
      receiving: others,
    };
    if (!fits(share, more, wholeRoom)) return null;
    this.#hold(share, bytes);
    this.#receiving.add(share);
    return undefined;
  }

  #hold(share: Share, bytes: number): void {
    this.#takenBytes += bytes - share.heldBytes;
    if (share.isSmall) this.#smallBytes += bytes - share.heldBytes;
    share.heldBytes = bytes;
  }

  /** Whether a body that holds nothing would take from one of these rooms, for which other bodies already wait. */
  #isBehind(share: Share, bytes: number, wanted: ReadonlySet<Room>): boolean {
    if (wanted.size === 0 || share.heldBytes > 0) return false;
    const isReserved = share.isSmall && this.#smallBytes + bytes <= this.#reservedBytes;
    return wanted.has(share.keyId) || (wanted.has(null) && !isReserved);
  }

  #wait(share: Share, bytes: number, room: Room): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null) => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        if (error) reject(error);
        else resolve();
      };
      const waiter: Waiter = { share, bytes, room, settle };
      const timer = setTimeout(() => settle(this.#full()), this.#waitMs);
      this.#waiting.add(waiter);
    });
  }

  /** Grants waiting growth that fits now. Called whenever bytes are returned. */
  #serveWaiting(): void {
    const wanted = new Set<Room>();
    for (const waiter of this.#waiting) {
      const { share, bytes } = waiter;
      if (this.#isBehind(share, bytes, wanted)) continue;
      const room = this.#take(share, bytes);
      if (room === undefined) {
        waiter.settle(null);
        continue;
      }
      waiter.room = room;
      wanted.add(room);
    }
  }

  #full(): Refused {
    return new Refused(unaccountable(`has no ${this.#what} left for large request bodies right now`));
  }
}

/** The part of the budget that one body holds, from its arrival to the end of its call. */
class Share {
  readonly keyId: string;
  readonly mostBytes: number;
  readonly isSmall: boolean;
  heldBytes = 0;
  readonly #budget: Budget;

  constructor(budget: Budget, keyId: string, mostBytes: number) {
    this.#budget = budget;
    this.keyId = keyId;
    this.mostBytes = mostBytes;
    this.isSmall = mostBytes <= SMALL_BYTES;
  }

  /**
   * Raises the share to `bytes` in total, at most the size it was opened for.
   * @returns null when granted at once; else a promise that rejects with `local_quota_not_configured` after 10 s,
   * or when the share is released.
   */
  grow(bytes: number): Promise<void> | null {
    return this.#budget.grow(this, bytes);
  }

  /** The body is complete and takes `bytes`: these stay held until its call ends, but no longer count for its key. */
  received(bytes: number): void {
    this.#budget.received(this, bytes);
  }

  /** Returns everything to the budget. Idempotent. */
  release(): void {
    this.#budget.release(this);
  }
}

/** The whole budget, or the part of a key, as one body sees it. */
interface Shared {
  readonly bytes: number;
  /** What other bodies hold of it. */
  readonly othersBytes: number;
  /** Those of them that are not complete. */
  readonly receiving: readonly Share[];
}

/** Whether there is room for `more` bytes of a share. */
function fits(share: Share, more: number, { bytes, othersBytes, receiving }: Shared): boolean {
  if (othersBytes === 0) return true;
  const heldBytes = share.heldBytes + more;
  const freeBytes = bytes - othersBytes - heldBytes;
  if (share.isSmall || freeBytes < 0) return freeBytes >= 0;
  return canAllFinish([...receiving, { heldBytes, mostBytes: share.mostBytes }], freeBytes, bytes);
}

/**
 * Whether bodies can all be completed one after the other (the banker's algorithm): the body that lacks the least with
 * the free bytes, the next with those that the first then returns, and so on. A body that can exceed the room needs no
 * more than all of it, because it may exceed the room when it is alone.
 */
function canAllFinish(
  bodies: readonly Pick<Share, 'heldBytes' | 'mostBytes'>[],
  freeBytes: number,
  roomBytes: number,
): boolean {
  const lacking = bodies.map(({ heldBytes, mostBytes }) => ({
    heldBytes,
    bytes: Math.min(mostBytes, roomBytes) - heldBytes,
  }));
  let free = freeBytes;
  for (const { heldBytes, bytes } of lacking.sort((a, b) => a.bytes - b.bytes)) {
    if (bytes > free) return false;
    free += heldBytes;
  }
  return true;
}
