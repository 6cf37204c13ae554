import type { IncomingMessage } from 'node:http';
import { type Refusal, Refused } from '#lib/errors';
import { offUnreadable, onUnreadable } from '#lib/gateway/framing';
import { endedEarly, stalled, tooLarge } from '#lib/gateway/upload/body-faults';

/**
 * Hands the body of a node:http request over piece by piece. While a piece is taken the request is
 * paused, so that memory holds one piece and what the socket has read ahead.
 * @param stallMs how long the client may pause; our own pauses do not count.
 */
export function pourNode(
  request: IncomingMessage,
  limit: number,
  stallMs: number,
  take: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    if (request.destroyed) {
      reject(endedEarly());
      return;
    }
    let size = 0;
    let over = false;
    let taking = false;
    let ended = false;
    const watch = () => setTimeout(() => done(() => reject(stalled(stallMs))), stallMs);
    let stall = watch();
    const done = (settle: () => void) => {
      if (over) return;
      over = true;
      clearTimeout(stall);
      request.pause();
      request.removeListener('data', onData).removeListener('end', onEnd);
      request.removeListener('error', onCut).removeListener('close', onCut);
      offUnreadable(request.socket, onBroken);
      settle();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        done(() => reject(tooLarge(limit)));
        return;
      }
      request.pause();
      clearTimeout(stall);
      taking = true;
      take(chunk).then(
        () => {
          taking = false;
          if (over) return;
          if (ended) {
            done(resolve);
            return;
          }
          stall = watch();
          request.resume();
        },
        (error: unknown) => done(() => reject(error)),
      );
    };
    // A paused request tells its end all the same, while the last piece is still being taken.
    const onEnd = () => {
      ended = true;
      if (!taking) done(resolve);
    };
    const onCut = () => {
      if (!ended) done(() => reject(endedEarly()));
    };
    const onBroken = (refused: Refusal) => done(() => reject(new Refused(refused)));
    onUnreadable(request.socket, onBroken);
    request.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  });
}
