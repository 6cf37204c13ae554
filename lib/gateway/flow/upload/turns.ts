import type { ScanTurn } from '#lib/core/families/scan';

interface Waiting {
  readonly leftBytes: number;
  readonly go: () => void;
}

/**
 * Schedules the scans of large bodies: one slice per round of the event loop, so that other calls run in between, and
 * the body with the fewest bytes left first, so that a small body does not wait for large ones and few scans are
 * half-done at a time.
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

/** The scheduler of this process. */
export const takeTurn = createTurns();
