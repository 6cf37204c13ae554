import { ArrowUpRight } from 'lucide-react';
import Link from 'next/link';
import { classNames } from '#components/ui/class-names';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { LedgerRow } from '#lib/console/billing/ledger-rows';

interface LedgerTableProps {
  rows: readonly LedgerRow[];
  framed?: boolean;
  /** It is a whole list, whose order is in the address. */
  sortable?: boolean;
}

/** Lines of the ledger, each with its cause and the balance after it. */
export function LedgerTable({ rows, framed = true, sortable = false }: LedgerTableProps) {
  return (
    <Table label="Ledger" framed={framed}>
      <thead>
        <tr>
          {sortable ? (
            <SortHead by="at" descendingFirst usual="descending">
              When
            </SortHead>
          ) : (
            <HeadCell>When</HeadCell>
          )}
          <HeadCell>Line</HeadCell>
          {sortable ? (
            <SortHead by="amount" className="text-right">
              Amount
            </SortHead>
          ) : (
            <HeadCell className="text-right">Amount</HeadCell>
          )}
          <HeadCell className="text-right">Balance</HeadCell>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id}>
            <Cell place="state" className="whitespace-nowrap text-muted tabular-nums" title={row.at}>
              {row.when}
            </Cell>
            <Cell place="title" className="min-w-44 [overflow-wrap:anywhere]">
              <span className="font-medium">{row.name}</span>
              {row.link ? (
                <>
                  {' · '}
                  <CauseLink {...row.link} />
                </>
              ) : null}
              {row.why ? <span className="block text-muted text-xs leading-5">{row.why}</span> : null}
            </Cell>
            <Cell
              place="figure"
              className={classNames(
                'whitespace-nowrap text-right tabular-nums',
                row.amount.startsWith('+') && 'text-good',
              )}
              title={row.exactAmount}
            >
              {row.amount}
            </Cell>
            <Cell
              label="Balance"
              className={classNames('whitespace-nowrap text-right tabular-nums', row.below && 'text-bad')}
              title={row.exactBalance}
            >
              {row.balance}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
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
