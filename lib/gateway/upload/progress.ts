/** A body that is being received. */
interface Receiving {
  readonly heldBytes: number;
  /** What it may come to. */
  readonly mostBytes: number;
}

/**
 * Whether bodies that share some room can all be received, one after the other: the one that lacks the
 * least with what is free, the next with what the first then gives back, and so on. Room that were given
 * out without asking this could end up in parts of bodies none of which can be completed.
 * @param roomBytes all of it: what a body may come to beyond that, it gets when it is alone.
 * @param freeBytes what nobody holds.
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
