import { ChevronLeft, ChevronRight } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { buttonStyle } from '#components/ui/button';

interface PagesNavProps {
  /** Spoken name: "Pages of the log". */
  label: string;
  /** Address of the first page; null when this is it. */
  first: string | null;
  /** Address of the next page; null when this is the last. */
  next: string | null;
  /** What the links say, where the first page is not the newest. */
  words?: { readonly first: string; readonly next: string };
  /** A line about what the page shows. */
  children: ReactNode;
}

/** Below a list: what it shows, back to its start, and on. */
export function PagesNav({ label, first, next, words, children }: PagesNavProps) {
  return (
    <nav aria-label={label} className="flex flex-wrap items-center justify-between gap-3">
      <p className="flex-1 basis-64 text-muted text-xs leading-5">{children}</p>
      {first ? (
        <Link className={buttonStyle({ size: 'small' })} href={first}>
          <ChevronLeft />
          {words?.first ?? 'Newest'}
        </Link>
      ) : null}
      {next ? (
        <Link className={buttonStyle({ size: 'small' })} href={next}>
          {words?.next ?? 'Older'}
          <ChevronRight />
        </Link>
      ) : null}
    </nav>
  );
}
