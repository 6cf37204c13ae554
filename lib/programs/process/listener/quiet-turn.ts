import { Server } from 'node:net';

/** A shorter turn of the event loop has accepted all connections that were waiting, ms. */
const QUIET_MS = 0.03;
/** How long only such a turn is accepted, ms; after that, up to a thousandth of the time that has passed. */
const STRICT_MS = 500;

/**
 * Closes a listener right after a turn of the event loop in which nothing happened, because its queue is
 * empty then. The kernel resets connections that still wait in it, and a proxy does not repeat a POST.
 * Nothing runs between the check and the close, not even a promise. A long turn is not accepted, however long
 * the wait: a process that did not get the processor has connections waiting.
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
