'use client';

import { Suspense } from 'react';
import { later } from '#components/ui/on-demand';

const KeepFocus = later(() => import('#components/shell/keep-focus').then((all) => all.KeepFocus));

/** What keeps the place of the keyboard, which is loaded after the page: nothing moves before the first key. */
export function LoadedKeepFocus() {
  return (
    <Suspense fallback={null}>
      <KeepFocus />
    </Suspense>
  );
}
