'use client';

import { Plus, Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from '#components/ui/class-names';
import { inputStyle } from '#components/ui/input';

export interface Option {
  readonly value: string;
  readonly label: string;
}

export interface NamePickerProps {
  /** What selecting does: "Add a fallback model". */
  label: string;
  /** Those that may still be chosen; or what finds those whose names contain a text, if there may be thousands. */
  names: readonly string[] | ((text: string) => Promise<readonly Option[]>);
  /** A filter shows what is chosen, by its name, or that anything is: "Any key". Without it, a pick adds to a list. */
  shown?: { readonly text: string; readonly chosen: boolean };
  /** When nothing is found. */
  none?: string;
  onPick(value: string): void;
}

const adds = classNames(inputStyle, 'h-8 border-dashed pl-8 text-[0.8125rem]');
const filters = classNames(inputStyle, 'truncate pr-8');
const filtersChosen = classNames(filters, 'placeholder:text-ink');

/** Class names of the box. */
export function nameBoxStyle({ shown }: Pick<NamePickerProps, 'shown'>): string {
  if (!shown) return adds;
  return shown.chosen ? filtersChosen : filters;
}

export function NameBoxFrame({ filter, children }: { filter: boolean; children: ReactNode }) {
  const Icon = filter ? Search : Plus;
  return (
    <div className="relative min-w-0">
      <Icon
        aria-hidden
        className={classNames(
          'pointer-events-none absolute top-1/2 size-3.5 -translate-y-1/2 text-muted',
          filter ? 'right-3' : 'left-2.5',
        )}
      />
      {children}
    </div>
  );
}
