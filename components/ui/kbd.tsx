import type { ReactNode } from 'react';

/** A keyboard key. */
export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded-sm border bg-sunken px-1.5 font-sans text-[0.6875rem] text-muted">
      {children}
    </kbd>
  );
}
