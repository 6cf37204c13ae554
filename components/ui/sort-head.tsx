'use client';

import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import Link from 'next/link';
import { usePathname, useSearchParams } from 'next/navigation';
import type { ReactNode } from 'react';
import { classNames } from '#components/ui/class-names';
import { HeadCell } from '#components/ui/table';
import { readSort } from '#lib/console/sort';

interface SortHeadProps {
  /** The column in the address: "cost". */
  by: string;
  /** The order that the first press asks for is largest first, as for figures and times. */
  descendingFirst?: boolean;
  /** The order of the list when the address names none, if it is by this column. */
  usual?: 'ascending' | 'descending';
  /** false: the list has no other order by this column; a press returns to the usual one. */
  reverses?: boolean;
  /** The parameter of the address; another one for a second table of a page. */
  parameter?: string;
  className?: string | undefined;
  /** Before its name: a box that selects all rows. */
  before?: ReactNode;
  children: ReactNode;
}

/** Heads a column by which the list can be sorted: by it, then the other way round, then as usual again. */
export function SortHead({
  by,
  descendingFirst = false,
  usual,
  reverses = true,
  parameter = 'sort',
  className,
  before,
  children,
}: SortHeadProps) {
  const path = usePathname();
  const query = new URLSearchParams(useSearchParams());
  const asked = readSort(query.get(parameter));
  const order = asked === null ? usual : asked.by === by ? orderOf(asked.descending) : undefined;
  const [first, second] = descendingFirst ? [`-${by}`, by] : [by, `-${by}`];
  const next = nextOf();
  if (next === null) query.delete(parameter);
  else query.set(parameter, next);
  for (const place of parameter === 'sort' ? ['after', 'page'] : [placeParameter(parameter)])
    query.delete(place);
  function nextOf(): string | null {
    if (!reverses) return null;
    if (asked?.by !== by) return usual === orderOf(descendingFirst) && asked === null ? second : first;
    return asked.descending === descendingFirst ? second : null;
  }
  const Arrow = order === undefined ? ChevronsUpDown : order === 'descending' ? ArrowDown : ArrowUp;
  return (
    <HeadCell className={className} aria-sort={order}>
      {before ? <span className="mr-3 inline-block align-middle">{before}</span> : null}
      <Link
        href={query.size > 0 ? `${path}?${query}` : path}
        prefetch={false}
        scroll={false}
        className={classNames(
          'group/sort inline-flex min-h-6 items-center gap-1 hover:text-ink',
          order && 'text-ink',
        )}
      >
        {children}
        <Arrow aria-hidden className={classNames('size-3', order === undefined && 'opacity-50')} />
      </Link>
    </HeadCell>
  );
}

/** The parameter of the address with the place where a page of a second table begins. */
function placeParameter(parameter: string): string {
  return `${parameter}After`;
}

function orderOf(descending: boolean) {
  return descending ? 'descending' : 'ascending';
}
