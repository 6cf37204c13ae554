import { setImmediate } from 'node:timers/promises';

/** A turn of the event loop that takes less has accepted all connections that were waiting, ms. */
const QUIET_MS = 0.05;
/** How long to wait for such a turn, ms. */
const MOST_MS = 250;

/**
 * Resolves right after a turn of the event loop in which nothing happened. A listener that is closed then has an empty
 * queue: the kernel resets connections that still wait in it, and a proxy sends no POST twice.
 */
export async function quietTurn(now = () => performance.now()): Promise<void> {
  const untilMs = now() + MOST_MS;
  let beforeMs = now();
  for (;;) {
    await setImmediate();
    const atMs = now();
    if (atMs - beforeMs < QUIET_MS || atMs > untilMs) return;
    beforeMs = now();
  }
}
