import Link, { useLinkStatus } from 'next/link';
import { usePathname } from 'next/navigation';
import { useContext } from 'react';
import type { DestinationGroup } from '#components/shell/navigation';
import { CloseSheet } from '#components/shell/popups/close-sheet';
import { classNames } from '#components/ui/class-names';

interface PageLinksProps {
  /** Accessible name of the navigation. */
  label: string;
  groups: readonly DestinationGroup[];
  hrefOf(path: string): string;
}

/** The pages of an area in groups; a group without pages is not shown. */
export function PageLinks({ label, groups, hrefOf }: PageLinksProps) {
  const pathname = usePathname();
  const close = useContext(CloseSheet);
  return (
    <nav
      aria-label={label}
      className="-mx-3 grid min-h-40 flex-1 content-start gap-3 lg:gap-2 overflow-y-auto px-3"
    >
      {groups
        .filter(({ pages }) => pages.length > 0)
        .map((group) => (
          <div key={group.label ?? 'top'} className="grid gap-0.5">
            {group.label ? <p className="px-2 pb-1 text-muted text-xs lg:pb-0.5">{group.label}</p> : null}
            {group.pages.map((page) => {
              const href = hrefOf(page.path);
              const here = pathname === href || (page.path !== '' && pathname.startsWith(`${href}/`));
              return (
                <Link
                  key={page.path}
                  href={href}
                  // Without a loading.tsx, prefetching loads nothing useful and costs two requests per link.
                  prefetch={false}
                  aria-current={here ? 'page' : undefined}
                  ref={here ? bringIntoView : undefined}
                  {...(close ? { onClick: close } : {})}
                  className={classNames(
                    'flex h-9 items-center gap-2.5 rounded-md px-2 text-muted lg:h-7 hover:bg-hover hover:text-ink [&_svg]:size-4',
                    here &&
                      'bg-accent-soft font-medium text-accent-ink hover:bg-accent-soft hover:text-accent-ink',
                  )}
                >
                  {page.icon}
                  {page.label}
                  <OnItsWay />
                </Link>
              );
            })}
          </div>
        ))}
    </nav>
  );
}

/** On a low screen the links scroll: brings the link of the current page into view. */
function bringIntoView(link: HTMLAnchorElement | null) {
  link?.scrollIntoView({ block: 'nearest' });
}

/** Shows that a link's page is loading; nothing if it takes less than 0.1 s. */
function OnItsWay() {
  const { pending } = useLinkStatus();
  return (
    <span
      aria-hidden
      data-pending={pending || undefined}
      className="ml-auto opacity-0 data-pending:opacity-60 data-pending:transition-opacity data-pending:delay-100"
    >
      <span className={classNames('block size-1.5 rounded-full bg-current', pending && 'animate-pulse')} />
    </span>
  );
}
