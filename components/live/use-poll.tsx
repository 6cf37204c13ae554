'use client';

import { useEffect, useEffectEvent, useState } from 'react';

/** The result of the last request. */
export type Connection = 'live' | 'lost' | 'signed-out';

const mostMs = 30_000;
/** Timeout of a request: figures that come later are outdated. */
const longestMs = 15_000;

/**
 * Polls the console for JSON while the page is visible, less often while no answer comes.
 * @param address null: do not poll now. @param onAnswer gets the JSON that the console's route returned.
 */
export function usePoll<Value>(
  address: string | null,
  everyMs: number,
  onAnswer: (value: Value) => void,
): Connection {
  const [connection, setConnection] = useState<Connection>('live');
  const hear = useEffectEvent(onAnswer);
  useEffect(() => {
    if (address === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let waitMs = everyMs;
    let asking = false;
    const abort = new AbortController();
    const ask = async () => {
      asking = true;
      const found = await read<Value>(
        address,
        AbortSignal.any([abort.signal, AbortSignal.timeout(longestMs)]),
      );
      if (abort.signal.aborted) return;
      asking = false;
      if (typeof found === 'object') hear(found.value);
      setConnection(typeof found === 'object' ? 'live' : found);
      if (found === 'signed-out') return;
      waitMs = found === 'lost' ? Math.min(waitMs * 2, mostMs) : everyMs;
      if (!document.hidden) timer = setTimeout(() => void ask(), waitMs);
    };
    const see = () => {
      // One request at a time: the pending one schedules the next.
      if (asking) return;
      clearTimeout(timer);
      if (!document.hidden) void ask();
    };
    timer = setTimeout(() => void ask(), everyMs);
    document.addEventListener('visibilitychange', see);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', see);
    };
  }, [address, everyMs]);
  return connection;
}

/** The answer of a route of this console, which has the expected shape; otherwise why there is none. */
async function read<Value>(
  address: string,
  signal: AbortSignal,
): Promise<{ readonly value: Value } | 'lost' | 'signed-out'> {
  try {
    const answer = await fetch(address, { signal, cache: 'no-store' });
    // A user who is signed out is redirected to the sign-in page, which is not JSON.
    if (answer.status === 401 || answer.redirected) return 'signed-out';
    return answer.ok ? { value: (await answer.json()) as Value } : 'lost';
  } catch {
    // Also a truncated answer, or one that a proxy sent instead.
    return 'lost';
  }
}
