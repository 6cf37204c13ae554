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
}

/**
 * Tries each waiting growth, oldest first. A body that holds nothing is not tried after another of its key that held
 * nothing either, could not become larger, and failed to get as little: each grant only leaves less room, so it would
 * fail too. Thousands of waiting bodies thus take a few tries.
 * @param take grants the growth if it fits. @returns false: it does not fit.
 */
export function growInOrder<One extends Wanting>(waiting: Iterable<One>, take: (one: One) => boolean): void {
  const failed = new Map<string, { bytes: number; mostBytes: number }>();
  for (const one of waiting) {
    const { keyId, heldBytes, mostBytes } = one.share;
    const least = heldBytes === 0 ? failed.get(keyId) : undefined;
    if (least && one.bytes >= least.bytes && mostBytes >= least.mostBytes) continue;
    if (!take(one) && heldBytes === 0) failed.set(keyId, { bytes: one.bytes, mostBytes });
  }
}
