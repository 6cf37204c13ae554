/**
 * Gives back what starting left behind, a third of the server's memory: V8 itself does so only under load. Blocks the
 * process for some 0.3 s, so it is for one that serves nobody yet (docs/decisions/memory-at-rest.md). Does nothing without
 * `--expose-gc`.
 */
export function dropStartGarbage(): void {
  // Only this flavor also shrinks the young generation.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
