import { ChevronRight } from 'lucide-react';
import Link from 'next/link';
import { Fragment } from 'react';
import { Breakable, type CallRow, columnLooks } from '#components/logs/call-columns';
import { classNames } from '#components/ui/class-names';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { type CallColumn, columnSets, shownColumns } from '#lib/console/columns';
import { refusedRuns } from '#lib/console/log/runs';

interface CallTableProps {
  calls: readonly CallRow[];
  /** Ids of calls that arrived while the page was open. */
  fresh?: ReadonlySet<string>;
  /** The columns to show; if not set, the default ones. */
  columns?: readonly CallColumn[];
  /** Combines repeated refusals; if not set, each call has its own row. */
  folds?: Folds;
  /** It is the log, whose order is in the address. */
  sortable?: boolean;
}

/** Expanded rows of repeated refusals, by the id of their oldest call, because new ones may be added. */
export interface Folds {
  readonly open: ReadonlySet<string>;
  toggle(id: string): void;
}

export function CallTable({ calls, fresh, columns, folds, sortable = false }: CallTableProps) {
  const shown = columns ?? shownColumns('log', null);
  return (
    <Table label="Calls">
      <thead>
        <tr>
          {sortable ? (
            <SortHead by="at" usual="descending" reverses={false}>
              Time
            </SortHead>
          ) : (
            <HeadCell>Time</HeadCell>
          )}
          {shown.map((column) => {
            const { headClass, sort } = columnLooks[column];
            const head = columnSets.log.names[column];
            return sortable && sort ? (
              <SortHead key={column} by={sort} descendingFirst className={headClass}>
                {head}
              </SortHead>
            ) : (
              <HeadCell key={column} className={headClass}>
                {head}
              </HeadCell>
            );
          })}
        </tr>
      </thead>
      <tbody>
        {(folds ? refusedRuns(calls) : calls.map((call) => [call])).map((run) => {
          const id = run.at(-1)?.id ?? '';
          const rows = run.map((call) => (
            <CallTableRow
              key={call.id}
              call={call}
              fresh={fresh?.has(call.id) ?? false}
              shown={shown}
              nested={run.length > 1}
            />
          ));
          if (!folds || run.length === 1) return rows;
          const open = folds.open.has(id);
          return (
            <Fragment key={id}>
              <RefusedRow run={run} open={open} shown={shown} onToggle={() => folds.toggle(id)} />
              {open ? rows : null}
            </Fragment>
          );
        })}
      </tbody>
    </Table>
  );
}

interface RefusedRowProps {
  /** Newest first; at least two. */
  run: readonly CallRow[];
  open: boolean;
  shown: readonly CallColumn[];
  onToggle(): void;
}

/** Consecutive calls that were refused for the same reason, as one row that expands. */
function RefusedRow({ run, open, shown, onToggle }: RefusedRowProps) {
  const [newest] = run;
  if (!newest) return null;
  const { time, ago, isoTime, errorCode, requested, keyName } = newest;
  return (
    <Row>
      <Cell place="title" className="whitespace-nowrap">
        <span className="font-medium tabular-nums">{time}</span>
        <time dateTime={isoTime} title={`${isoTime} (UTC)`} className="block text-muted text-xs">
          {ago}
        </time>
      </Cell>
      <Cell colSpan={shown.length}>
        <button
          type="button"
          aria-expanded={open}
          onClick={onToggle}
          className="flex min-h-6 items-start gap-1.5 text-left hover:underline"
        >
          <ChevronRight
            aria-hidden
            className={classNames(
              'mt-0.5 size-4 shrink-0 text-muted transition-transform',
              open && 'rotate-90',
            )}
          />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <span className="font-medium">{run.length} refused</span>,{' '}
            <Breakable text={errorCode ?? 'no code'} />
          </span>
        </button>
        <span className="block pl-[1.375rem] text-muted text-xs [overflow-wrap:anywhere]">
          {[requested, keyName].filter(Boolean).join(' · ')}
        </span>
      </Cell>
    </Row>
  );
}

interface CallTableRowProps {
  call: CallRow;
  fresh: boolean;
  shown: readonly CallColumn[];
  /** It stands below the row that opened it. */
  nested: boolean;
}

function CallTableRow({ call, fresh, shown, nested }: CallTableRowProps) {
  return (
    <Row className={nested ? 'relative bg-sunken/70' : 'relative'}>
      <Cell place="title" className="whitespace-nowrap">
        <Link
          href={call.href}
          prefetch={false}
          className="inline-block min-h-6 content-center font-medium tabular-nums after:absolute after:inset-0 hover:underline"
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
      {shown.map((column) => {
        const { place, cellClass, title, show } = columnLooks[column];
        const head = columnSets.log.names[column];
        return (
          <Cell
            key={column}
            {...(place ? { place } : { label: head })}
            className={cellClass}
            title={title?.(call)}
          >
            {show(call)}
          </Cell>
        );
      })}
    </Row>
  );
}
