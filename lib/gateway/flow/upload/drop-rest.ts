import type { IncomingMessage } from 'node:http';

const DROP_BYTES = 1024 * 1024;
const DROP_MS = 1_000;
/** How long the connection stays open with bytes unread, so that the client can read its answer; ms. */
const LINGER_MS = 250;

/**
 * Reads and discards up to 1 MiB or 1 s of a refused body (contract: body/not-read-early), so that a client that is
 * still sending can read the answer before the connection is closed.
 */
export function dropRest(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = DROP_BYTES;
    const timer = setTimeout(resolve, DROP_MS);
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0 || request.isPaused()) return;
      // Closing now would reset the connection, because bytes are unread, and could lose the answer.
      request.pause();
      clearTimeout(timer);
      setTimeout(finish, LINGER_MS);
    });
    request.on('end', finish).on('close', finish).on('error', finish);
    request.resume();
  });
}
