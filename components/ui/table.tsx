import type { ComponentProps } from 'react';
import { classNames } from '#components/ui/class-names';
import { ScrollRegion } from '#components/ui/scroll-region';

/** A table in its own frame; if it is wider than the page, only the frame scrolls. */
export function Table({ className, label, ...props }: ComponentProps<'table'> & { label: string }) {
  return (
    <ScrollRegion label={label} className="relative rounded-lg border bg-surface">
      <table
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
        'h-9 whitespace-nowrap border-b bg-sunken/70 px-3 text-left font-medium text-muted text-xs first:pl-4 last:pr-4',
        className,
      )}
      {...props}
    />
  );
}

/** Heading of the column with a row's actions; `sticky`: it stays visible when the table scrolls. */
export function ActionsHeadCell({ sticky = false }: { sticky?: boolean }) {
  return (
    <HeadCell {...(sticky ? { className: 'right-0 max-lg:sticky max-lg:bg-sunken' } : {})}>
      <span className="sr-only">Actions</span>
    </HeadCell>
  );
}

export function Row({ className, ...props }: ComponentProps<'tr'>) {
  return <tr className={classNames('group/row', className)} {...props} />;
}

export function Cell({ className, ...props }: ComponentProps<'td'>) {
  return (
    <td
      className={classNames(
        'border-b px-3 py-2.5 align-middle first:pl-4 last:pr-4 group-last/row:border-b-0 group-hover/row:bg-hover/45',
        className,
      )}
      {...props}
    />
  );
}
