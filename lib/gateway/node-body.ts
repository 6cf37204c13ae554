import type { IncomingMessage } from 'node:http';
import { Refused } from '#lib/errors';
import { type BodyBudget, FREE_BYTES } from '#lib/gateway/body-budget';
import { onUnreadable } from '#lib/gateway/framing';
import type { BodySource } from '#lib/gateway/lane';
import { endedEarly, stalled, tooLarge } from '#lib/gateway/upload/body-faults';
import { pourNode } from '#lib/gateway/upload/pour-node';

const DROP_BYTES = 1024 * 1024;
const DROP_MS = 1_000;
const LINGER_MS = 250;

export interface NodeBody extends BodySource {
  /** The request is refused and some of its body was not read: the connection must end with the answer. */
  unread(): boolean;
  /** After a refusal: a promise while the unread rest is being dropped; null when nothing is left. */
  finishDrop(): Promise<void> | null;
  /** Gives the memory of the body back to the budget, and whatever else was kept of it. */
  release(): void;
}

/**
 * The body of a node:http request: read once, under the budget, or dropped.
 * @param stallMs how long it may pause (decisions §4).
 */
export function createNodeBody(request: IncomingMessage, budget: BodyBudget, stallMs: number): NodeBody {
  let taken = 0;
  const kept: (() => void)[] = [];
  let dropped = false;
  const declared = declaredLength(request);

  const read = async (limit: number): Promise<Uint8Array> => {
    if (declared !== null && declared > limit) throw tooLarge(limit);
    if (declared === 0) return new Uint8Array();
    if (declared !== null) await reserve(declared);
    return collect(limit);
  };

  const reserve = (bytes: number): Promise<void> | null => {
    const wait = budget.take(bytes);
    taken += bytes;
    return wait;
  };

  const collect = (limit: number) =>
    new Promise<Uint8Array>((resolve, reject) => {
      // Who left while waiting for the budget says nothing any more: others wait for its share.
      if (request.destroyed) {
        reject(endedEarly());
        return;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      let over = false;
      const watch = () => setTimeout(() => done(() => reject(stalled(stallMs))), stallMs);
      let stall = watch();
      const done = (settle: () => void) => {
        over = true;
        clearTimeout(stall);
        request.removeListener('data', onData).removeListener('end', onEnd);
        request.removeListener('error', onCut).removeListener('close', onCut);
        forget();
        settle();
      };
      const onData = (chunk: Buffer) => {
        stall.refresh();
        size += chunk.length;
        if (size > limit) {
          request.pause();
          done(() => reject(tooLarge(limit)));
          return;
        }
        chunks.push(chunk);
        if (declared !== null || size <= Math.max(taken, FREE_BYTES)) return;
        const wait = reserve(Math.max(1024 * 1024, chunk.length));
        if (wait === null) return;
        // The pause is ours, not the client's.
        request.pause();
        clearTimeout(stall);
        void wait.then(() => {
          if (over) return;
          stall = watch();
          request.resume();
        });
      };
      const onEnd = () => {
        const [only] = chunks;
        done(() => resolve(chunks.length === 1 && only ? only : Buffer.concat(chunks, size)));
      };
      const onCut = () => done(() => reject(endedEarly()));
      const forget = onUnreadable(request.socket, (refused) => done(() => reject(new Refused(refused))));
      request.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
    });

  return {
    read,
    pour: async (limit, take) => {
      if (declared !== null && declared > limit) throw tooLarge(limit);
      if (declared !== 0) await pourNode(request, limit, stallMs, take);
    },
    onRelease: (listener) => {
      kept.push(listener);
    },
    drop: () => {
      dropped = !request.readableEnded && (declared === null ? hasBody(request) : declared > 0);
    },
    unread: () => dropped && !request.readableEnded,
    finishDrop: () => (dropped && !request.readableEnded ? dropRest(request) : null),
    release: () => {
      for (const letGo of kept.splice(0)) letGo();
      budget.give(taken);
      taken = 0;
    },
  };
}

function dropRest(request: IncomingMessage): Promise<void> {
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

function declaredLength(request: IncomingMessage): number | null {
  const header = request.headers['content-length'];
  if (header === undefined) return hasBody(request) ? null : 0;
  return /^\d{1,15}$/.test(header) ? Number(header) : null;
}

function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || request.headers['content-length'] !== undefined
  );
}
