'use client';

import { type ComponentProps, Suspense } from 'react';
import type { OfferHealth as Shown } from '#components/routing/offer-health';
import { later } from '#components/ui/on-demand';

const OfferHealth = later(() => import('#components/routing/offer-health').then((all) => all.OfferHealth));

/** The health of offers, whose script is loaded after the page: the first figures come with it. */
export function LoadedOfferHealth(props: ComponentProps<typeof Shown>) {
  return (
    <Suspense fallback={null}>
      <OfferHealth {...props} />
    </Suspense>
  );
}
