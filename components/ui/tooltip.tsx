'use client';

import { type ReactElement, type ReactNode, Suspense } from 'react';
import { later } from '#components/ui/on-demand';

const TooltipBox = later(() => import('#components/ui/tooltip-box').then((all) => all.TooltipBox));

export interface TooltipProps {
  content: ReactNode;
  /** What it explains. Give it a tab stop when it has none by itself. */
  children: ReactElement;
}

/** Adds detail on hover and focus; never the only place where something is said. */
export function Tooltip(props: TooltipProps) {
  return (
    <Suspense fallback={props.children}>
      <TooltipBox {...props} />
    </Suspense>
  );
}
