import Link from 'next/link';
import { columnLooks } from '#components/logs/columns/call-columns';
import { classNames } from '#components/ui/class-names';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { type CallColumn, narrowColumns, usualColumns } from '#lib/console/log/columns';

/** One call of the list; times and money are ready to read. */
export interface CallRow {
  readonly id: string;
  readonly href: string;
  readonly time: string;
  readonly ago: string;
  readonly isoTime: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly endReason: string;
  readonly requested: string | null;
  readonly answering: string | null;
  readonly provider: string | null;
  readonly attempts: number;
  readonly operation: string;
  readonly streamed: boolean;
  /** null: nothing was used. */
  readonly tokens: { readonly in: string; readonly out: string } | null;
  /** Tokens of the answer a second; null: it was not streamed, or too short to tell. */
  readonly speed: string | null;
  readonly cost: string;
  readonly exactCost: string;
  readonly latency: string;
  readonly firstByte: string | null;
  readonly keyName: string;
  readonly clientRequestId: string | null;
}

interface CallTableProps {
  calls: readonly CallRow[];
  /** Ids of those that came while the page was open. */
  fresh?: ReadonlySet<string>;
  /** Those that somebody chose; without it the usual ones, on a phone fewer of them. */
  columns?: readonly CallColumn[] | null;
}

interface ShownColumn {
  readonly column: CallColumn;
  /** Class names for a screen that has no room for it. */
  readonly narrow: string;
}

export function CallTable({ calls, fresh, columns }: CallTableProps) {
  const shown = (columns ?? usualColumns).map((column) => ({
    column,
    narrow: columns || narrowColumns.includes(column) ? '' : 'max-sm:hidden',
  }));
  return (
    <Table label="Calls">
      <thead>
        <tr>
          <HeadCell>Time</HeadCell>
          {shown.map(({ column, narrow }) => (
            <HeadCell key={column} className={classNames(columnLooks[column].headClass, narrow)}>
              {columnLooks[column].head}
            </HeadCell>
          ))}
        </tr>
      </thead>
      <tbody>
        {calls.map((call) => (
          <CallTableRow key={call.id} call={call} fresh={fresh?.has(call.id) ?? false} shown={shown} />
        ))}
      </tbody>
    </Table>
  );
}

interface CallTableRowProps {
  call: CallRow;
  fresh: boolean;
  shown: readonly ShownColumn[];
}

function CallTableRow({ call, fresh, shown }: CallTableRowProps) {
  return (
    <Row className="relative">
      <Cell className="whitespace-nowrap">
        <Link
          href={call.href}
          prefetch={false}
          className="font-medium tabular-nums after:absolute after:inset-0 hover:underline"
        >
          {call.time}
        </Link>
        {fresh ? (
          <span className="ml-1.5 rounded-sm bg-accent-soft px-1 font-medium text-[0.6875rem] text-accent-ink">
            new
          </span>
        ) : null}
        <time dateTime={call.isoTime} title={`${call.isoTime} (UTC)`} className="block text-muted text-xs">
          {call.ago}
        </time>
      </Cell>
      {shown.map(({ column, narrow }) => {
        const { cellClass, title, show } = columnLooks[column];
        return (
          <Cell key={column} className={classNames(cellClass, narrow)} title={title?.(call)}>
            {show(call)}
          </Cell>
        );
      })}
    </Row>
  );
}
