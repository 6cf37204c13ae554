import type { BodyBudget } from '#lib/gateway/body-budget';
import type { BodySource } from '#lib/gateway/lane';
import { endedEarly, stalled, tooLarge } from '#lib/gateway/upload/body-faults';

export interface WebBody extends BodySource {
  /** The request is refused and its body was not read to the end. */
  unread(): boolean;
  /** Gives the memory of the body back to the budget, and whatever else was kept of it. */
  release(): void;
}

/**
 * The body of a web request; what stays unread of it is the host's to drop.
 * @param stallMs how long it may pause (decisions §4).
 */
export function createWebBody(request: Request, budget: BodyBudget, stallMs: number): WebBody {
  let taken = 0;
  const kept: (() => void)[] = [];
  let dropped = false;
  let whole = !announcesBody(request.headers);

  const reserve = (bytes: number): Promise<void> | null => {
    taken += bytes;
    return budget.take(bytes);
  };

  return {
    read: async (limit) => {
      const declared = Number(request.headers.get('content-length') ?? 0);
      if (declared > limit) throw tooLarge(limit);
      if (request.body === null) return new Uint8Array();
      if (declared > 0) await reserve(declared);
      const reader = request.body.getReader();
      const chunks: Uint8Array[] = [];
      let size = 0;
      for (;;) {
        const read = await beforeStall(reader.read(), stallMs);
        if (read.done) break;
        size += read.value.length;
        if (size > limit) throw tooLarge(limit);
        chunks.push(read.value);
        if (declared === 0 && size > taken) await reserve(1024 * 1024);
      }
      whole = true;
      return Buffer.concat(chunks, size);
    },
    pour: async (limit, take) => {
      if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit);
      if (request.body === null) return;
      const reader = request.body.getReader();
      let size = 0;
      for (;;) {
        const read = await beforeStall(reader.read(), stallMs);
        if (read.done) break;
        size += read.value.length;
        if (size > limit) throw tooLarge(limit);
        await take(read.value);
      }
      whole = true;
    },
    onRelease: (listener) => {
      kept.push(listener);
    },
    drop: () => {
      dropped = true;
    },
    unread: () => dropped && !whole,
    release: () => {
      for (const letGo of kept.splice(0)) letGo();
      budget.give(taken);
      taken = 0;
    },
  };
}

/** Hosts give every method but GET and HEAD a body to read, and some an empty one. */
function announcesBody(headers: Headers): boolean {
  return headers.has('transfer-encoding') || !/^0*$/.test(headers.get('content-length') ?? '');
}

/** @throws Refused `invalid_body` when the body pauses for too long or its client leaves. */
async function beforeStall<Read>(read: Promise<Read>, stallMs: number): Promise<Read> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(stalled(stallMs)), stallMs);
  });
  const cut = read.catch(() => {
    throw endedEarly();
  });
  try {
    return await Promise.race([cut, late]);
  } finally {
    clearTimeout(timer);
  }
}
