'use client';

import { useState } from 'react';

/**
 * Leads to a page elsewhere, which may take its time to come.
 * @returns whether it is on its way, which ends when somebody comes back by Back, and what leads there.
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
