import Link from 'next/link';
import type { ReactNode } from 'react';
import { DocsNav, type DocsNavPage } from '#components/docs/docs-nav';

interface GuidePageProps {
  title: string;
  headings: readonly { readonly id: string; readonly text: string }[];
  pages: readonly DocsNavPage[];
  current: string;
  children: ReactNode;
}

/** A page of the guide between the list of pages and its own table of contents. */
export function GuidePageView({ title, headings, pages, current, children }: GuidePageProps) {
  const at = pages.findIndex(({ slug }) => slug === current);
  return (
    <div className="grid min-w-0 gap-6 lg:grid-cols-[13rem_minmax(0,1fr)] lg:gap-10 xl:grid-cols-[13rem_minmax(0,46rem)_13rem]">
      <DocsNav pages={pages} current={current} />
      <article className="grid min-w-0 content-start gap-4">
        <h1 className="font-semibold text-2xl tracking-tight">{title}</h1>
        {children}
        <nav aria-label="Previous and next page" className="mt-6 flex justify-between gap-4 border-t pt-4">
          <Neighbour page={pages[at - 1]} label="Previous" />
          <Neighbour page={pages[at + 1]} label="Next" end />
        </nav>
      </article>
      {headings.length > 1 ? (
        <nav aria-label="On this page" className="hidden xl:block">
          <div className="sticky top-20 grid gap-1 text-[0.8125rem]">
            <p className="pb-1 text-muted text-xs">On this page</p>
            {headings.map(({ id, text }) => (
              <a key={id} href={`#${id}`} className="py-0.5 text-muted leading-5 hover:text-ink">
                {text}
              </a>
            ))}
          </div>
        </nav>
      ) : null}
    </div>
  );
}

function Neighbour({ page, label, end }: { page: DocsNavPage | undefined; label: string; end?: boolean }) {
  if (!page) return <span />;
  return (
    <Link
      href={`/docs/${page.slug}`}
      className={`grid rounded-md px-2 py-1 hover:bg-hover ${end ? 'text-right' : ''}`}
    >
      <span className="text-muted text-xs">{label}</span>
      <span className="font-medium">{page.title}</span>
    </Link>
  );
}
