'use client';

import { useRouter } from 'next/navigation';
import { useEffect } from 'react';

/**
 * Reads the page again and again, as long as it is seen.
 * @param times at most; 0: not at all.
 */
export function useReadAgain(everyMs: number, times: number): void {
  const router = useRouter();
  useEffect(() => {
    if (times === 0) return;
    let asked = 0;
    let over = false;
    const timer = setInterval(async () => {
      if (document.hidden) return;
      asked += 1;
      if (asked >= times) clearInterval(timer);
      // Where no answer comes, the browser would leave the page for one of its own, and never come back.
      const answer = await fetch('/robots.txt', { method: 'HEAD', cache: 'no-store' }).catch(() => null);
      if (answer?.ok && !over) router.refresh();
    }, everyMs);
    return () => {
      over = true;
      clearInterval(timer);
    };
  }, [router, everyMs, times]);
}
