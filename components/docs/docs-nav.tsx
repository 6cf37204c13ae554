import Link from 'next/link';
import { classNames } from '#components/ui/class-names';

export interface DocsNavPage {
  readonly slug: string;
  readonly title: string;
  readonly group: string;
}

interface DocsNavProps {
  pages: readonly DocsNavPage[];
  current: string;
}

/** All pages of the guide in groups; on narrow screens collapsed above the text. */
export function DocsNav({ pages, current }: DocsNavProps) {
  const title = pages.find(({ slug }) => slug === current)?.title;
  return (
    <>
      <details className="group rounded-lg border bg-surface lg:hidden">
        <summary className="px-4 py-2.5 font-medium">Documentation: {title}</summary>
        <div className="border-t px-2 py-3">
          <Groups pages={pages} current={current} />
        </div>
      </details>
      <div className="hidden lg:block">
        <div className="sticky top-20 max-h-[calc(100dvh-6rem)] overflow-y-auto">
          <Groups pages={pages} current={current} />
        </div>
      </div>
    </>
  );
}

function Groups({ pages, current }: DocsNavProps) {
  return (
    <nav aria-label="Documentation" className="grid gap-4">
      {[...new Set(pages.map(({ group }) => group))].map((group) => (
        <div key={group} className="grid gap-0.5">
          <p className="px-2 pb-1 text-muted text-xs">{group}</p>
          {pages
            .filter((page) => page.group === group)
            .map(({ slug, title }) => (
              <Link
                key={slug}
                href={`/docs/${slug}`}
                prefetch={false}
                aria-current={slug === current ? 'page' : undefined}
                className={classNames(
                  'flex min-h-8 items-center rounded-md px-2 py-1.5 text-muted leading-5 hover:bg-hover hover:text-ink',
                  slug === current &&
                    'bg-accent-soft font-medium text-accent-ink hover:bg-accent-soft hover:text-accent-ink',
                )}
              >
                {title}
              </Link>
            ))}
        </div>
      ))}
    </nav>
  );
}
