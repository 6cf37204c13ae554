/** A body that is being received. */
interface Receiving {
  readonly heldBytes: number;
  /** The largest size that it can reach. */
  readonly mostBytes: number;
}

/**
 * Whether bodies that share a limited room can all be completed one after the other (the banker's algorithm): the one
 * that lacks the least with the free bytes, the next with those that the first then returns, and so on. Without this
 * check the room could be filled by parts of bodies none of which can be completed.
 * @param freeBytes bytes of the room that no body holds.
 * @param roomBytes size of the room; a body that can exceed it needs no more than all of it here, because a body that
 * is alone may exceed the room.
 */
export function canAllFinish(bodies: readonly Receiving[], freeBytes: number, roomBytes: number): boolean {
  const lacking = bodies
    .map(({ heldBytes, mostBytes }) => ({ heldBytes, bytes: Math.min(mostBytes, roomBytes) - heldBytes }))
    .sort((a, b) => a.bytes - b.bytes);
  let free = freeBytes;
  for (const { heldBytes, bytes } of lacking) {
    if (bytes > free) return false;
    free += heldBytes;
  }
  return true;
}

/** Growth of one body that waits for room. */
interface Wanting {
  readonly share: Receiving & { readonly keyId: string };
  /** What the body is to hold, bytes. */
  readonly bytes: number;
  /** It has waited so long that nobody who came later and holds nothing may go before it. */
  readonly aged: boolean;
}

/** What has too little room for a growth: the share of its key, or the whole budget; null: it fits. */
export type Lack = 'key' | 'whole' | null;

/**
 * Tries each waiting growth, oldest first. A body that holds nothing is not tried after another one that held nothing
 * either, could not become larger, and failed to get as little from the same room (the share of the same key, or the
 * whole budget): each grant only leaves less room, so it would fail too. Thousands of waiting bodies thus take a few
 * tries. Behind an aged one that failed, bodies that hold nothing are not tried in the room that it waits for, however
 * little they want; those that hold something are, because theirs is what will come free.
 * @param take grants the growth if it fits.
 * @param besides whether a body may go before an aged one that waits for the whole budget: it takes nothing from it.
 */
export function growInOrder<One extends Wanting>(
  waiting: Iterable<One>,
  take: (one: One) => Lack,
  besides: (one: One) => boolean = () => false,
): void {
  const ahead = new Ahead();
  const failedOfKey = new Map<string, Wanting>();
  let failedOfWhole: Wanting | undefined;
  for (const one of waiting) {
    const { keyId, heldBytes } = one.share;
    const isEmpty = heldBytes === 0;
    if (isEmpty && ahead.holdsBack(keyId, () => besides(one))) continue;
    if (isEmpty && (asksAtLeast(one, failedOfWhole) || asksAtLeast(one, failedOfKey.get(keyId)))) continue;
    const lack = take(one);
    if (one.aged) ahead.note(keyId, lack);
    if (!isEmpty) continue;
    if (lack === 'key') failedOfKey.set(keyId, one);
    if (lack === 'whole') failedOfWhole = one;
  }
}

/** The rooms that aged bodies wait for. */
export class Ahead {
  readonly #keys = new Set<string>();
  #whole = false;

  note(keyId: string, lack: Lack): void {
    if (lack === 'key') this.#keys.add(keyId);
    if (lack === 'whole') this.#whole = true;
  }

  /** Whether a body of this key that holds nothing must wait. @param besides it takes nothing from the whole. */
  holdsBack(keyId: string, besides: () => boolean): boolean {
    return this.#keys.has(keyId) || (this.#whole && !besides());
  }
}

function asksAtLeast(one: Wanting, failed: Wanting | undefined): boolean {
  if (failed === undefined) return false;
  return one.bytes >= failed.bytes && one.share.mostBytes >= failed.share.mostBytes;
}
