'use client';

import { useEffect, useEffectEvent, useState } from 'react';

/** How the last question went. */
export type Connection = 'live' | 'lost' | 'signed-out';

const mostMs = 30_000;

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
    const abort = new AbortController();
    const ask = async () => {
      const answer = await fetch(address, { signal: abort.signal, cache: 'no-store' }).catch(() => null);
      if (abort.signal.aborted) return;
      // Somebody who is signed out is led to the sign-in page, which is no JSON.
      const gone = answer?.status === 401 || answer?.redirected === true;
      if (answer?.ok && !gone) hear(await readOwn<Value>(answer));
      setConnection(gone ? 'signed-out' : answer?.ok ? 'live' : 'lost');
      if (gone) return;
      waitMs = answer?.ok ? everyMs : Math.min(waitMs * 2, mostMs);
      if (!document.hidden) timer = setTimeout(() => void ask(), waitMs);
    };
    const see = () => {
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

/** A route of this very console answers what its page expects. */
async function readOwn<Value>(answer: Response): Promise<Value> {
  return (await answer.json()) as Value;
}
