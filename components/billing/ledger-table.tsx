import { ArrowUpRight } from 'lucide-react';
import Link from 'next/link';
import { figureColumn, type ListColumns, ListTable } from '#components/columns/list-table';
import { classNames } from '#components/ui/class-names';
import type { LedgerRow } from '#lib/console/billing/ledger-rows';
import type { ColumnOf } from '#lib/console/columns';

interface LedgerTableProps {
  rows: readonly LedgerRow[];
  /** The columns after the time. */
  columns: readonly ColumnOf<'ledger'>[];
  framed?: boolean;
  /** It is a whole list, whose order is in the address. */
  sortable?: boolean;
}

const looks: ListColumns<LedgerRow, 'ledger'> = {
  fixed: {
    sort: { by: 'at', descendingFirst: true, usual: 'descending' },
    place: 'state',
    className: 'whitespace-nowrap text-muted tabular-nums',
    title: (row) => row.at,
    show: (row) => row.when,
  },
  line: {
    place: 'title',
    className: 'min-w-44 [overflow-wrap:anywhere]',
    show: (row) => (
      <>
        <span className="font-medium">{row.name}</span>
        {row.link ? (
          <>
            {' · '}
            <CauseLink {...row.link} />
          </>
        ) : null}
        {row.why ? <span className="block text-muted text-xs leading-5">{row.why}</span> : null}
      </>
    ),
  },
  amount: {
    ...figureColumn,
    sort: { by: 'amount' },
    place: 'figure',
    title: (row) => row.exactAmount,
    show: (row) => <span className={row.amount.startsWith('+') ? 'text-good' : undefined}>{row.amount}</span>,
  },
  balance: {
    ...figureColumn,
    title: (row) => row.exactBalance,
    show: (row) => <span className={row.below ? 'text-bad' : undefined}>{row.balance}</span>,
  },
  simulated: { ...figureColumn, show: (row) => row.simulated ?? <span className="text-muted">–</span> },
  ref: {
    className: 'min-w-40',
    show: (row) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{row.ref}</code>,
  },
};

/** Lines of the ledger, each with its cause and the balance after it. */
export function LedgerTable({ rows, columns, framed = true, sortable = false }: LedgerTableProps) {
  return (
    <ListTable
      label="Ledger"
      table="ledger"
      looks={looks}
      columns={columns}
      rows={rows}
      framed={framed}
      sortable={sortable}
    />
  );
}

/** Link to the cause of a line: a page of the console, or a receipt on another site. */
function CauseLink({ href, text, away }: NonNullable<LedgerRow['link']>) {
  const style = 'underline decoration-line-strong underline-offset-2 hover:decoration-current';
  if (!away) {
    return (
      <Link prefetch={false} className={style} href={href}>
        {text}
      </Link>
    );
  }
  return (
    <a className={classNames(style, 'inline-flex items-center gap-0.5')} href={href} rel="noreferrer">
      {text}
      <ArrowUpRight aria-hidden className="size-3.5" />
    </a>
  );
}
