import { Server } from 'node:net';

/** A turn of the event loop that takes less has accepted all connections that were waiting, ms. */
const QUIET_MS = 0.03;
/** For how long only such a turn is accepted, ms; then a longer one too: a thousandth of the time that has passed. */
const STRICT_MS = 500;

/**
 * Closes a listener right after a turn of the event loop in which nothing happened: its queue is empty then. The kernel
 * resets connections that still wait in it, and a proxy sends no POST twice. Nothing comes between the look and the
 * close, not even a promise. A turn that took long is never taken, however long that has gone on: a process that was
 * not given the processor has connections waiting.
 * @param now ms.
 * @returns a promise that resolves once `close` was called.
 */
export function closeInQuietTurn(close: () => void, now = () => performance.now()): Promise<void> {
  // Compiled ahead: that takes 0.1 ms, in which connections could come.
  Server.prototype.close.call(new Server());
  const startMs = now();
  return new Promise((resolve, reject) => {
    const look = (beforeMs: number) => {
      const atMs = now();
      const passedMs = atMs - startMs;
      if (atMs - beforeMs >= (passedMs < STRICT_MS ? QUIET_MS : passedMs / 1_000)) {
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
