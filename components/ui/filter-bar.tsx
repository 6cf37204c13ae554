'use client';

import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '#components/ui/button';
import { FilterSheet } from '#components/ui/filter-sheet';
import { handFocusOn } from '#components/ui/hand-focus-on';

interface FilterBarProps {
  /** Whether the list is being read again. */
  busy: boolean;
  /** How many filters are set, with those of `more`. */
  given: number;
  onClear(): void;
  /** Always shown: what people search by. */
  first?: ReactNode;
  /** The filters; below 640 px in a sheet. */
  children: ReactNode;
  /** Filters that are seldom used; `open`: one of them is set. */
  more?: { readonly title: string; readonly open: boolean; readonly filters: ReactNode } | null;
  /** Always shown, behind the filters. */
  last?: ReactNode;
}

/** The filters above a list; below 640 px a button opens them as a sheet. */
export function FilterBar({ busy, given, onClear, first, children, more, last }: FilterBarProps) {
  return (
    <search aria-busy={busy} className="grid min-w-0 flex-1 gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {first}
        <div className="hidden sm:contents">{children}</div>
        <FilterSheet given={given} onClear={onClear}>
          {children}
          {more?.filters}
        </FilterSheet>
        {given > 0 ? (
          <Button
            tone="quiet"
            size="small"
            onClick={(event) => {
              handFocusOn(event.currentTarget);
              onClear();
            }}
          >
            <X />
            Clear
          </Button>
        ) : null}
        {last}
      </div>
      {more ? (
        <details open={more.open} className="max-sm:hidden">
          <summary className="min-h-6 w-fit cursor-pointer content-center rounded-sm text-muted text-xs hover:text-ink">
            {more.title}
          </summary>
          <div className="flex flex-wrap items-center gap-2 pt-2 *:max-w-72">{more.filters}</div>
        </details>
      ) : null}
    </search>
  );
}
