import Link from 'next/link';
import { Wordmark } from '#components/brand';
import { classNames } from '#components/ui/class-names';
import type { AmountRow, AmountTable } from '#lib/console/billing/statement';

interface StatementSheetProps {
  title: string;
  /** The workspace, the dates and the currency. */
  facts: readonly string[];
  /** What the reader must know; null: nothing. */
  warning: string | null;
  tables: readonly AmountTable[];
}

/** A month of the ledger on one sheet; amounts are exact, so that they can be added up. */
export function StatementSheet({ title, facts, warning, tables }: StatementSheetProps) {
  return (
    <article
      aria-labelledby="statement"
      className="mx-auto grid w-full max-w-3xl gap-8 rounded-lg border bg-surface px-5 py-6 sm:px-10 sm:py-9 print:max-w-none print:gap-6 print:border-0 print:p-0"
    >
      <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
        <div className="grid min-w-0 gap-1">
          <h1 id="statement" className="font-semibold text-xl tracking-tight">
            {title}
          </h1>
          {facts.map((fact) => (
            <p key={fact} className="text-muted text-xs leading-5 [overflow-wrap:anywhere]">
              {fact}
            </p>
          ))}
          {warning ? <p className="text-warn text-xs leading-5">{warning}</p> : null}
        </div>
        <Wordmark />
      </header>
      {tables.map((table) => (
        <Amounts key={table.caption} {...table} />
      ))}
    </article>
  );
}

function Amounts({ caption, rows }: AmountTable) {
  return (
    <table className="w-full table-fixed text-sm">
      <caption className="border-b pb-2 text-left font-semibold text-[0.8125rem]">{caption}</caption>
      <colgroup>
        <col />
        <col className="hidden w-36 sm:table-column print:table-column" />
        <col className="w-44" />
      </colgroup>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id} className={classNames('break-inside-avoid', row.strong && 'font-semibold')}>
            <th
              scope="row"
              className={classNames(
                'border-b py-1.5 pr-3 text-left align-top [overflow-wrap:anywhere]',
                row.strong ? 'font-semibold' : 'font-normal',
              )}
            >
              {row.name}
              <span className="block font-normal text-muted text-xs sm:hidden print:hidden">
                <Note {...row} />
              </span>
            </th>
            <td className="hidden border-b py-1.5 pr-3 align-top font-normal text-muted text-xs leading-5 sm:table-cell print:table-cell">
              <Note {...row} />
            </td>
            <td className="whitespace-nowrap border-b py-1.5 text-right align-top tabular-nums">
              {row.amount}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Note({ note, href }: AmountRow) {
  if (note === null || href === null) return note;
  return (
    <Link
      prefetch={false}
      href={href}
      className="underline decoration-line-strong underline-offset-2 print:no-underline"
    >
      {note}
    </Link>
  );
}
