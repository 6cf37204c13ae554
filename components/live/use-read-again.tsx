'use client';

import { useRouter } from 'next/navigation';
import { useEffect } from 'react';

/**
 * Refreshes the page repeatedly while it is visible.
 * @param times maximum number of refreshes; 0: none.
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
      // If no answer came, the browser would replace the page with its own error page and never come back.
      const answer = await fetch('/robots.txt', { method: 'HEAD', cache: 'no-store' }).catch(() => null);
      if (answer?.ok && !over) router.refresh();
    }, everyMs);
    return () => {
      over = true;
      clearInterval(timer);
    };
  }, [router, everyMs, times]);
}
