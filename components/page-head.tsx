import { CircleQuestionMark } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { type HelpTopic, helpHref } from '#lib/console/guide/help';

interface PageHeadProps {
  title: ReactNode;
  /** One sentence about what the page is for. */
  children?: ReactNode;
  action?: ReactNode;
  /** What the guide explains of it. */
  help?: HelpTopic;
}

export function PageHead({ title, children, action, help }: PageHeadProps) {
  return (
    <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="grid min-w-0 gap-1">
        <div className="flex items-center gap-1">
          <h1 className="font-semibold text-xl tracking-tight">{title}</h1>
          {help ? (
            <Link
              href={helpHref(help)}
              prefetch={false}
              aria-label="Help with this page"
              title="Read about this page in the documentation"
              className="grid size-7 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink"
            >
              <CircleQuestionMark aria-hidden className="size-4" />
            </Link>
          ) : null}
        </div>
        {children ? <p className="max-w-2xl text-muted leading-5">{children}</p> : null}
      </div>
      {action}
    </header>
  );
}
