'use client';

import { useEffect, useEffectEvent, useState } from 'react';

/** How the last question went. */
export type Connection = 'live' | 'lost' | 'signed-out';

const mostMs = 30_000;
/** For an answer: what comes later is no figure of now. */
const longestMs = 15_000;

/**
 * Asks the console for JSON again and again, as long as the page is seen; rarer while no answer comes.
 * @param address null: not now. @param onAnswer gets what the route of the console answered.
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
      // One question at a time: each that is under way asks the next one.
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

/** What a route of this very console answers, which is what its page expects; else why nothing came. */
async function read<Value>(
  address: string,
  signal: AbortSignal,
): Promise<{ readonly value: Value } | 'lost' | 'signed-out'> {
  try {
    const answer = await fetch(address, { signal, cache: 'no-store' });
    // Somebody who is signed out is led to the sign-in page, which is no JSON.
    if (answer.status === 401 || answer.redirected) return 'signed-out';
    return answer.ok ? { value: (await answer.json()) as Value } : 'lost';
  } catch {
    // Also an answer that broke off, or that somebody between put in its place.
    return 'lost';
  }
}
