import type { ReactNode } from 'react';

/** A scrolling region without controls needs a tab stop, so that it can be scrolled by keyboard. */
const tabStop = { tabIndex: 0 };

/** A region for wide content that scrolls sideways, so that the page does not. */
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
