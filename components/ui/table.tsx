import type { ComponentProps } from 'react';
import { classNames } from '#components/ui/class-names';
import { ScrollRegion } from '#components/ui/scroll-region';

interface TableProps extends ComponentProps<'table'> {
  /** Spoken name. */
  label: string;
  /** false: it is inside of a section, whose frame it shares. */
  framed?: boolean;
  /** Rows and columns belong together, as in a matrix: on a phone it scrolls sideways instead of being stacked. */
  matrix?: boolean;
  /** It scrolls in a box of this height ("max-h-120") and not with the page. */
  height?: string;
}

/**
 * A table. Its head stays in sight: at the top of the window, or of the table's own box if that scrolls. Below 640 px
 * its rows are stacked, each cell at its `place` (contract: control-plane/console-tables).
 */
export function Table({ className, label, framed = true, matrix = false, height, ...props }: TableProps) {
  return (
    <ScrollRegion
      label={label}
      className={classNames(
        'group/table relative isolate [--head-top:0px] print:max-h-none',
        framed ? 'rounded-lg border' : 'last:rounded-b-[0.4375rem]',
        height ?? 'data-[fits=false]:max-h-[85dvh] data-[fits=true]:max-lg:[--head-top:3.5rem]',
        height && 'overflow-y-auto',
      )}
    >
      <table
        data-stacked={matrix ? undefined : ''}
        className={classNames('w-full border-separate border-spacing-0 text-sm', className)}
        {...props}
      />
    </ScrollRegion>
  );
}

export function HeadCell({ className, ...props }: ComponentProps<'th'>) {
  return (
    <th
      scope="col"
      className={classNames(
        'sticky top-(--head-top) z-20 h-9 whitespace-nowrap border-b bg-sunken px-3 text-left font-medium text-muted text-xs first:pl-4 last:pr-4 group-data-framed/table:last:rounded-tr-[0.4375rem] group-data-framed/table:first:rounded-tl-[0.4375rem] print:static',
        className,
      )}
      {...props}
    />
  );
}

/** Stays at the right edge of a table that scrolls sideways, with the shadow of what is behind it. */
const pinned =
  'right-0 group-data-[fits=false]/table:sticky group-data-[fits=false]/table:shadow-[-0.5rem_0_0.5rem_-0.5rem_var(--edge)]';

/** Heads the column of what can be done with a row; `sticky`: it stays in sight where the table scrolls. */
export function ActionsHeadCell({
  sticky = false,
  name = 'Actions',
}: {
  sticky?: boolean;
  name?: string | undefined;
}) {
  return (
    <HeadCell className={classNames(sticky && [pinned, 'z-30'])}>
      <span className="sr-only">{name}</span>
    </HeadCell>
  );
}

export function Row({ className, ...props }: ComponentProps<'tr'>) {
  return <tr className={classNames('group/row', className)} {...props} />;
}

interface CellProps extends Omit<ComponentProps<'td'>, 'title'> {
  title?: string | undefined;
  /**
   * Where it is in the block of its row on a phone (app/tables.css): `title`, `figure` and `menu` in the first line,
   * `state` and `aside` in the second; otherwise below these, over the whole width.
   */
  place?: 'title' | 'figure' | 'menu' | 'state' | 'aside' | 'whole' | 'hidden' | undefined;
  /** The name of its column, which a phone shows beside it. */
  label?: string;
  /** It stays in sight where the table scrolls sideways. */
  sticky?: boolean;
  /** It is the head of its row: a screen reader reads it with the other cells. */
  heading?: boolean;
}

export function Cell({ className, place, label, sticky = false, heading = false, ...props }: CellProps) {
  const Element = heading ? 'th' : 'td';
  return (
    <Element
      {...(heading ? { scope: 'row' } : {})}
      data-place={place}
      data-label={label}
      className={classNames(
        'border-b px-3 py-2.5 align-middle first:pl-4 last:pr-4 group-last/row:border-b-0 group-hover/row:bg-hover/45',
        sticky && [pinned, 'w-12 px-1.5 group-data-[fits=false]/table:bg-surface'],
        heading && 'text-left font-normal',
        className,
      )}
      {...props}
    />
  );
}
