'use client';

import type { ReactNode } from 'react';
import { Wordmark } from '#components/brand';
import { SheetButton } from '#components/shell/popups/sheet-button';
import { later, OnDemand } from '#components/ui/on-demand';

const OpenSheet = later(() => import('#components/shell/popups/open-sheet').then((all) => all.OpenSheet));

/** The top bar on narrow screens: the logo, and a button that opens the sidebar as a sheet. */
export function MobileBar({ sidebar }: { sidebar: ReactNode }) {
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center justify-between border-b bg-sunken px-4 lg:hidden print:hidden">
      <Wordmark />
      <OnDemand
        popup="dialog"
        button={(button) => <SheetButton {...button} />}
        opened={<OpenSheet>{sidebar}</OpenSheet>}
      />
    </header>
  );
}
