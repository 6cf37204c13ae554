'use client';

import { useReadAgain } from '#components/live/use-read-again';

/** Refreshes the page it is mounted on every `everyMs`, while that page is visible. */
export function ReadAgain({ everyMs }: { everyMs: number }) {
  useReadAgain(everyMs, Number.POSITIVE_INFINITY);
  return null;
}
