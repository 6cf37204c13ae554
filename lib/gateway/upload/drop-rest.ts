import type { IncomingMessage } from 'node:http';

const DROP_BYTES = 1024 * 1024;
const DROP_MS = 1_000;
const LINGER_MS = 250;

/** Drops up to 1 MiB or 1 s of a body that is refused (decisions §4): its client first reads the answer. */
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
      // Closing with bytes unread resets the connection: the client first gets time to read its answer.
      request.pause();
      clearTimeout(timer);
      setTimeout(finish, LINGER_MS);
    });
    request.on('end', finish).on('close', finish).on('error', finish);
    request.resume();
  });
}
