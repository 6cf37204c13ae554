'use client';

import { type ReactNode, useEffect, useRef, useState } from 'react';
import { classNames } from '#components/ui/class-names';

/** A scrolling region without controls needs a tab stop, so that it can be scrolled by keyboard. */
const tabStop = { tabIndex: 0 };

/**
 * Wide content in its place: it scrolls sideways with a shadow at the edge behind which there is more, and the page
 * does not. `data-fits` says whether it is as narrow as its place; then nothing in it scrolls, so that a table's
 * head can stick to the window instead.
 */
export function ScrollRegion({
  label,
  className,
  children,
}: {
  label: string;
  className?: string | undefined;
  children: ReactNode;
}) {
  const region = useRef<HTMLElement>(null);
  const [fits, setFits] = useState<boolean | null>(null);
  useEffect(() => {
    const [outer, inner] = [region.current, region.current?.firstElementChild];
    if (!outer || !inner) return;
    const watch = new ResizeObserver(() => setFits(inner.scrollWidth <= outer.clientWidth));
    watch.observe(outer);
    watch.observe(inner);
    return () => watch.disconnect();
  }, []);
  return (
    <section
      ref={region}
      // Not the name of the section that it may be in.
      aria-label={`${label}, table`}
      data-fits={fits ?? undefined}
      className={classNames(
        'edge-shadow min-w-0 overflow-x-auto data-[fits=true]:overflow-x-clip',
        className,
      )}
      {...tabStop}
    >
      {children}
    </section>
  );
}
