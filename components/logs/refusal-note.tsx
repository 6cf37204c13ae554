import { ArrowRight, Lightbulb } from 'lucide-react';
import Link from 'next/link';

interface RefusalNoteProps {
  /** What to do. */
  text: string;
  /** The page to do it on. */
  page: { readonly href: string; readonly label: string } | null;
}

/** What to do about a refusal, with a link to the page to do it on. */
export function RefusalNote({ text, page }: RefusalNoteProps) {
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg bg-warn-soft px-4 py-2.5 text-warn">
      <Lightbulb aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 flex-1 basis-60">{text}</span>
      {page ? (
        <Link
          href={page.href}
          className="inline-flex items-center gap-1 font-medium underline underline-offset-2"
        >
          {page.label}
          <ArrowRight aria-hidden className="size-3.5" />
        </Link>
      ) : null}
    </p>
  );
}
