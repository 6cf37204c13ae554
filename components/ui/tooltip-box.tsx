'use client';

import { Tooltip as BaseTooltip } from '@base-ui/react/tooltip';
import type { ReactElement, ReactNode } from 'react';

export interface TooltipProps {
  content: ReactNode;
  /** What it explains. Add a tab stop if the element has none. */
  children: ReactElement;
}

/** The tooltip once its script has loaded. */
export function TooltipBox({ content, children }: TooltipProps) {
  return (
    <BaseTooltip.Root>
      <BaseTooltip.Trigger render={children} delay={300} />
      <BaseTooltip.Portal>
        <BaseTooltip.Positioner sideOffset={6} className="z-60">
          <BaseTooltip.Popup className="max-w-72 rounded-md bg-ink px-2 py-1 text-canvas text-xs leading-4 shadow-pop transition-opacity duration-100 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0">
            {content}
          </BaseTooltip.Popup>
        </BaseTooltip.Positioner>
      </BaseTooltip.Portal>
    </BaseTooltip.Root>
  );
}
