import type { ReactNode } from 'react';

/** What scrolls without a control inside needs a tab stop, so that the keyboard reaches its end. */
const tabStop = { tabIndex: 0 };

/** Wide content in its place: it scrolls sideways, and the page does not. */
export function ScrollRegion({
  label,
  className = '',
  children,
}: {
  label: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section aria-label={label} className={`overflow-x-auto ${className}`} {...tabStop}>
      {children}
    </section>
  );
}
