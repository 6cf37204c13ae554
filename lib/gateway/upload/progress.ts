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
