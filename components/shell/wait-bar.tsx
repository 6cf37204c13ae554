'use client';

import { useEffect, useState } from 'react';
import { isNavigation, type Waiting, watchWaits } from '#lib/console/waiting';

/** What follows a press within this, ms, is what was pressed for; later requests are the page's own. */
const causedWithinMs = 1_000;

const notes: Readonly<Partial<Record<Waiting | 'offline', string>>> = {
  slow: 'Still waiting for the gateway…',
  lost: 'No response from the gateway. Check your connection, then try again.',
  offline: 'You are offline. What you see may be out of date.',
};

/**
 * A bar at the top of the window while a page or an action that somebody asked for takes longer than 300 ms, and a word
 * when it takes much longer or the network is gone (contract: control-plane/waiting). Next has no event for all of these,
 * so it watches the requests that they make.
 */
export function WaitBar() {
  const [waiting, setWaiting] = useState<Waiting>('nothing');
  const [offline, setOffline] = useState(false);

  useEffect(() => {
    let pressedMs = Number.NEGATIVE_INFINITY;
    const pressed = () => {
      pressedMs = performance.now();
    };
    const events = ['pointerdown', 'pointerup', 'keydown', 'popstate'];
    for (const name of events) window.addEventListener(name, pressed, { capture: true, passive: true });
    const watch = watchWaits(setWaiting);
    const fetchBefore = window.fetch;
    const watched: typeof fetch = async (input, init) => {
      const headers = new Headers(init?.headers);
      const asked = performance.now() - pressedMs < causedWithinMs && isNavigation(headers);
      if (!asked) return fetchBefore(input, init);
      const ended = watch.begin();
      try {
        const answer = await fetchBefore(input, init);
        // The page is there when its last byte is.
        void answer
          .clone()
          .text()
          .then(
            () => ended(true),
            () => ended(true),
          );
        return answer;
      } catch (error) {
        // One that another press replaced is no lost connection, and a lost action is reported where it was asked for.
        ended(init?.signal?.aborted === true || headers.has('next-action'));
        throw error;
      }
    };
    window.fetch = watched;
    const connection = () => setOffline(!navigator.onLine);
    connection();
    window.addEventListener('online', connection);
    window.addEventListener('offline', connection);
    return () => {
      if (window.fetch === watched) window.fetch = fetchBefore;
      watch.end();
      for (const name of events) window.removeEventListener(name, pressed, { capture: true });
      window.removeEventListener('online', connection);
      window.removeEventListener('offline', connection);
    };
  }, []);

  const note = notes[offline ? 'offline' : waiting];
  const moving = waiting === 'waiting' || waiting === 'slow';
  return (
    <div aria-live="polite" className="pointer-events-none fixed inset-x-0 top-0 z-60 grid print:hidden">
      {moving ? (
        <div data-waiting className="h-0.5 overflow-hidden bg-accent-soft">
          <span className="sr-only">Loading</span>
          <div aria-hidden className="h-full w-2/5 animate-[wait_1.1s_ease-in-out_infinite] bg-accent" />
        </div>
      ) : null}
      {note ? (
        <p className="mt-2 justify-self-center rounded-md border bg-surface px-3 py-1.5 text-[0.8125rem] shadow-pop">
          {note}
        </p>
      ) : null}
    </div>
  );
}
