import type { ScanTurn } from '#lib/families/scan';

interface Waiting {
  readonly leftBytes: number;
  readonly go: () => void;
}

/**
 * Whose turn it is among the large bodies that are being scanned: one slice in each round of the event
 * loop, so that other calls go on between any two, and the body with the least left first, so that a
 * small one does not wait for large ones and few are begun at a time.
 */
export function createTurns(): ScanTurn {
  const waiting: Waiting[] = [];
  const next = () => {
    let first = 0;
    for (let at = 1; at < waiting.length; at++) {
      if ((waiting[at]?.leftBytes ?? 0) < (waiting[first]?.leftBytes ?? 0)) first = at;
    }
    const [chosen] = waiting.splice(first, 1);
    if (waiting.length > 0) setImmediate(next);
    chosen?.go();
  };
  return (leftBytes) =>
    new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(next);
      waiting.push({ leftBytes, go: resolve });
    });
}

/** The turns of this process. */
export const takeTurn = createTurns();
