import { CircleAlert, TriangleAlert } from 'lucide-react';
import Link from 'next/link';
import { classNames } from '#components/ui/class-names';
import type { Notice } from '#lib/console/show/notices';

/** The most urgent notice, with the others collapsed below; nothing if there are none. */
export function Notices({ notices }: { notices: readonly Notice[] }) {
  const [first, ...rest] = notices;
  if (first === undefined) return null;
  return (
    <section aria-label="Needs attention" className="grid gap-2">
      <NoticeList notices={[first]} />
      {rest.length > 0 ? (
        <details className="group grid gap-2">
          <summary className="w-fit rounded-md px-1 text-muted text-xs leading-5 hover:text-ink">
            <span className="group-open:hidden">
              {rest.length} more {rest.length === 1 ? 'thing needs' : 'things need'} attention
            </span>
            <span className="hidden group-open:inline">Show less</span>
          </summary>
          <NoticeList notices={rest} />
        </details>
      ) : null}
    </section>
  );
}

function NoticeList({ notices }: { notices: readonly Notice[] }) {
  return (
    <ul className="grid gap-2">
      {notices.map(({ id, tone, text, link }) => (
        <li
          key={id}
          className={classNames(
            'flex items-start gap-2.5 rounded-lg px-4 py-2.5 leading-5',
            tone === 'bad' ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn',
          )}
        >
          {tone === 'bad' ? (
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          ) : (
            <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          )}
          <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            {text}{' '}
            {link ? (
              <Link href={link.href} prefetch={false} className="whitespace-nowrap font-medium underline">
                {link.label}
              </Link>
            ) : null}
          </p>
        </li>
      ))}
    </ul>
  );
}
