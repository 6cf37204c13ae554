'use client';

import { Suspense } from 'react';
import { later } from '#components/ui/on-demand';

const WaitBar = later(() => import('#components/shell/wait-bar').then((all) => all.WaitBar));

/** The bar of a wait, which is loaded after the page: nothing is waited for before the first click. */
export function LoadedWaitBar() {
  return (
    <Suspense fallback={null}>
      <WaitBar />
    </Suspense>
  );
}
