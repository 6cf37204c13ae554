import { ArrowUpRight } from 'lucide-react';
import Link from 'next/link';
import { classNames } from '#components/ui/class-names';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { LedgerRow } from '#lib/console/billing/ledger-rows';

/** Lines of the ledger, each with its cause and the balance after it. */
export function LedgerTable({ rows, framed = true }: { rows: readonly LedgerRow[]; framed?: boolean }) {
  return (
    <div className={classNames('min-w-0', !framed && '[&_section]:rounded-t-none [&_section]:border-0')}>
      <Table label="Ledger">
        <thead>
          <tr>
            <HeadCell className="max-sm:hidden">When</HeadCell>
            <HeadCell>Line</HeadCell>
            <HeadCell className="text-right">Amount</HeadCell>
            <HeadCell className="text-right">Balance</HeadCell>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id}>
              <Cell className="whitespace-nowrap text-muted tabular-nums max-sm:hidden" title={row.at}>
                {row.when}
              </Cell>
              <Cell className="[overflow-wrap:anywhere] max-sm:pl-4 sm:min-w-44">
                <span className="font-medium">{row.name}</span>
                {row.link ? (
                  <>
                    {' · '}
                    <CauseLink {...row.link} />
                  </>
                ) : null}
                <span className="block text-muted text-xs tabular-nums leading-5 sm:hidden">{row.when}</span>
                {row.why ? <span className="block text-muted text-xs leading-5">{row.why}</span> : null}
              </Cell>
              <Cell
                className={classNames(
                  'whitespace-nowrap text-right tabular-nums',
                  row.amount.startsWith('+') && 'text-good',
                )}
                title={row.exactAmount}
              >
                {row.amount}
              </Cell>
              <Cell
                className={classNames('whitespace-nowrap text-right tabular-nums', row.below && 'text-bad')}
                title={row.exactBalance}
              >
                {row.balance}
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
    </div>
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
