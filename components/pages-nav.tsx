import { ChevronLeft, ChevronRight } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { buttonStyle } from '#components/ui/button';

interface PagesNavProps {
  /** Accessible name, such as "Pages of the log". */
  label: string;
  /** URL of the first page; null on the first page. */
  first: string | null;
  /** URL of the next page; null on the last page. */
  next: string | null;
  /** Link text, if the first page is not the newest. */
  words?: { readonly first: string; readonly next: string };
  /** A line about what the page shows. */
  children: ReactNode;
}

/** The footer of a list: what it shows, and links to its first and next pages. */
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
