'use client';

import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from '#components/ui/class-names';
import { inputStyle } from '#components/ui/input';

export interface NamePickerProps {
  /** What selecting does: "Add a fallback model". */
  label: string;
  /** Names that can still be selected. */
  names: readonly string[];
  onPick(name: string): void;
}

export const nameBoxStyle = classNames(inputStyle, 'h-8 border-dashed pl-8 text-[0.8125rem]');

export function NameBoxFrame({ children }: { children: ReactNode }) {
  return (
    <div className="relative">
      <Plus aria-hidden className="absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-muted" />
      {children}
    </div>
  );
}
