'use client';

import { Suspense } from 'react';
import { later } from '#components/ui/on-demand';
import type { TooltipProps } from '#components/ui/tooltip-box';

const TooltipBox = later(() => import('#components/ui/tooltip-box').then((all) => all.TooltipBox));

/** Adds detail on hover and focus; do not put information only here. */
export function Tooltip(props: TooltipProps) {
  return (
    <Suspense fallback={props.children}>
      <TooltipBox {...props} />
    </Suspense>
  );
}
