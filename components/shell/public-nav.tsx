'use client';

import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { classNames } from '#components/ui/class-names';

const pages = [
  { href: '/models', label: 'Models' },
  { href: '/docs', label: 'Docs' },
];
const statusPage = { href: '/status', label: 'Status' };

export function PublicNav({ status }: { status: boolean }) {
  const pathname = usePathname();
  return (
    <nav aria-label="Site" className="flex flex-1 gap-0.5 sm:gap-1">
      {(status ? [...pages, statusPage] : pages).map(({ href, label }) => {
        const here = pathname === href || pathname.startsWith(`${href}/`);
        return (
          <Link
            key={href}
            href={href}
            prefetch={false}
            aria-current={here ? 'page' : undefined}
            className={classNames(
              'flex h-8 items-center rounded-md px-2 text-muted sm:px-2.5 hover:bg-hover hover:text-ink',
              here && 'font-medium text-ink',
            )}
          >
            {label}
          </Link>
        );
      })}
    </nav>
  );
}
