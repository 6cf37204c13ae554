'use client';

import { useState } from 'react';

/**
 * Opens a page on another site, which may take a while to load.
 * @returns `leading`: whether it is loading, until the user navigates back; `leadTo` opens it.
 */
export function useLeadTo(): { leading: boolean; leadTo(address: string): void } {
  const [leading, setLeading] = useState(false);
  return {
    leading,
    leadTo: (address) => {
      setLeading(true);
      window.addEventListener('pageshow', () => setLeading(false), { once: true });
      window.location.assign(address);
    },
  };
}
