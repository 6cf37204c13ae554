'use client';

import { CSPProvider } from '@base-ui/react/csp-provider';
import { ThemeProvider } from 'next-themes';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import type { ReactNode } from 'react';
import { Toaster } from '#components/ui/toaster';
import { TooltipProvider } from '#components/ui/tooltip';

/** What every page stands in: theme without a flash, tooltips, toasts. */
export function Providers({ nonce, children }: { nonce: string | undefined; children: ReactNode }) {
  return (
    <CSPProvider {...(nonce ? { nonce } : {})}>
      <ThemeProvider attribute="class" disableTransitionOnChange {...(nonce ? { nonce } : {})}>
        <TooltipProvider>
          <NuqsAdapter>{children}</NuqsAdapter>
        </TooltipProvider>
        <Toaster />
      </ThemeProvider>
    </CSPProvider>
  );
}
