import Link from 'next/link';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { type ColumnOf, columnSets } from '#lib/console/columns';

/** Figures of a value, of all values, or of the others, ready to read. */
export type TagUsageFigures = Readonly<Record<ColumnOf<'tagUsage'>, string>> & {
  readonly exactCost: string;
};

/** The usage of a value of a tag, or of an end user. */
export interface TagUsageRow extends TagUsageFigures {
  readonly value: string;
  /** URL of its calls in the log. */
  readonly log: string;
  /** URL of its budget and spend. */
  readonly budget: string;
}

interface TagUsageTableProps {
  /** "End user", "feature". */
  heading: string;
  rows: readonly TagUsageRow[];
  /** What comes after the page; null: nothing. */
  rest: { readonly name: string; readonly figures: TagUsageFigures } | null;
  total: { readonly name: string; readonly figures: TagUsageFigures };
  columns: readonly ColumnOf<'tagUsage'>[];
}

const foot = 'border-b-0 border-t';
const aNumber = 'whitespace-nowrap text-right tabular-nums';

/** Usage by the values of a tag or by end user; each value links to its calls. */
export function TagUsageTable({ heading, rows, rest, total, columns }: TagUsageTableProps) {
  const figures = (of: TagUsageFigures, className = '') =>
    columns.map((column) => (
      <Cell
        key={column}
        {...(column === 'cost' ? { place: 'figure' as const } : { label: columnSets.tagUsage.names[column] })}
        className={`${aNumber} ${className} ${column === 'share' ? 'text-muted' : ''}`}
        title={column === 'cost' ? `$${of.exactCost}` : undefined}
      >
        {of[column]}
      </Cell>
    ));
  return (
    <Table label={`Usage by ${heading}`}>
      <thead>
        <tr>
          <SortHead by="value">{heading}</SortHead>
          {columns.map((column) =>
            column === 'share' ? (
              <HeadCell key={column} className="text-right">
                {columnSets.tagUsage.names[column]}
              </HeadCell>
            ) : (
              <SortHead
                key={column}
                by={column}
                descendingFirst
                {...(column === 'cost' ? { usual: 'descending' as const } : {})}
                className="text-right"
              >
                {columnSets.tagUsage.names[column]}
              </SortHead>
            ),
          )}
          <HeadCell>
            <span className="sr-only">Budget</span>
          </HeadCell>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.log}>
            <Cell place="title" className="max-w-72">
              <Link
                href={row.log}
                prefetch={false}
                dir="auto"
                title={`Show these calls in the log: ${row.value}`}
                className="block truncate font-medium hover:underline max-sm:whitespace-normal max-sm:[overflow-wrap:anywhere]"
              >
                {row.value}
              </Link>
            </Cell>
            {figures(row)}
            <Cell place="state" className="w-px whitespace-nowrap text-right">
              <Link
                href={row.budget}
                prefetch={false}
                aria-label={`Budget of ${row.value}`}
                className="text-muted text-xs underline underline-offset-2 hover:text-ink"
              >
                Budget
              </Link>
            </Cell>
          </Row>
        ))}
      </tbody>
      <tfoot>
        {rest ? (
          <Row className="text-muted">
            <Cell place="title" className={foot}>
              {rest.name}
            </Cell>
            {figures(rest.figures, foot)}
            <Cell place="hidden" className={foot} />
          </Row>
        ) : null}
        <Row className="font-medium">
          <Cell place="title" className={`${foot} text-muted`}>
            {total.name}
          </Cell>
          {figures(total.figures, foot)}
          <Cell place="hidden" className={foot} />
        </Row>
      </tfoot>
    </Table>
  );
}
