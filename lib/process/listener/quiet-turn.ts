/** A turn of the event loop that takes less has accepted all connections that were waiting, ms. */
const QUIET_MS = 0.05;
/** How long to wait for such a turn, ms. */
const MOST_MS = 1_000;

/**
 * Closes a listener right after a turn of the event loop in which nothing happened: its queue is empty then. The kernel
 * resets connections that still wait in it, and a proxy sends no POST twice. Nothing comes between the look and the
 * close, not even a promise.
 * @param now ms.
 * @returns a promise that resolves once `close` was called.
 */
export function closeInQuietTurn(close: () => void, now = () => performance.now()): Promise<void> {
  const untilMs = now() + MOST_MS;
  return new Promise((resolve, reject) => {
    const look = (beforeMs: number) => {
      const atMs = now();
      if (atMs - beforeMs >= QUIET_MS && atMs <= untilMs) {
        setImmediate(look, now());
        return;
      }
      try {
        close();
        resolve();
      } catch (error) {
        reject(error);
      }
    };
    setImmediate(look, now());
  });
}
