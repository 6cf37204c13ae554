import { ArrowDown, ArrowUp } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { CompareBox } from '#components/models/compare-box';
import { Retirement } from '#components/models/retirement';
import { classNames } from '#components/ui/class-names';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { ModelRow } from '#lib/console/models/rows';

interface ModelTableProps {
  rows: readonly ModelRow[];
  sort: { readonly by: string; readonly descending: boolean } | null;
  /** URL of the list in another order; null: the default order. */
  sortHref(sort: string | null): string;
  mostCompared: number;
}

export function ModelTable({ rows, sort, sortHref, mostCompared }: ModelTableProps) {
  const head = (by: string, children: ReactNode, descendingFirst = false, className?: string) => (
    <SortHead {...{ by, sort, sortHref, descendingFirst }} {...(className ? { className } : {})}>
      {children}
    </SortHead>
  );
  return (
    // Fixed column widths, so that rows that arrive later do not widen them.
    <Table label="Models" className="min-w-[60rem] table-fixed">
      <thead>
        <tr>
          <HeadCell className="w-9 pr-0">
            <span className="sr-only">Compare</span>
          </HeadCell>
          {head('name', 'Model')}
          {head('context', 'Context', true, 'w-19 text-right')}
          <HeadCell className="w-22 text-right">Max output</HeadCell>
          {head('input', 'Input / 1M', false, 'w-22 text-right')}
          {head('output', 'Output / 1M', false, 'w-24 text-right')}
          <HeadCell className="w-34">Input → output</HeadCell>
          <HeadCell className="w-25">Offered by</HeadCell>
          {head('released', 'Released', true, 'w-27')}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id}>
            <Cell className="pr-0">
              <CompareBox id={row.id} name={row.name} most={mostCompared} />
            </Cell>
            <Cell>
              <span className="flex flex-wrap items-center gap-x-2">
                <Link
                  href={row.href}
                  prefetch={false}
                  className={classNames(
                    'font-medium [overflow-wrap:anywhere] hover:underline',
                    !row.callable && 'text-muted',
                  )}
                >
                  {row.name}
                </Link>
                <Retirement day={row.retires} past={row.retired} />
              </span>
              <code className="block font-mono text-muted text-xs [overflow-wrap:anywhere]">{row.id}</code>
            </Cell>
            <Figure>{row.context}</Figure>
            <Figure>{row.maxOutput}</Figure>
            <Figure>{row.input}</Figure>
            <Figure>{row.output}</Figure>
            <Cell className="text-muted text-xs leading-4">
              {row.reads} → {row.writes}
            </Cell>
            <Cell className="[overflow-wrap:anywhere]">
              <Providers names={row.providers} />
              {row.callable ? null : (
                <span
                  className="block text-muted text-xs"
                  title="No offer of this model can be called on this gateway."
                >
                  Not available
                </span>
              )}
            </Cell>
            <Cell className="whitespace-nowrap text-muted tabular-nums">{row.released ?? '—'}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

function Figure({ children }: { children: string | null }) {
  return (
    <Cell className="text-right tabular-nums">
      {children ?? (
        <span className="text-muted" title="Unknown or none">
          —
        </span>
      )}
    </Cell>
  );
}

function Providers({ names }: { names: readonly string[] }) {
  const [first, ...rest] = names;
  return (
    <span title={names.join('\n')}>
      {first}
      {rest.length > 0 ? <span className="text-muted"> +{rest.length}</span> : null}
    </span>
  );
}

interface SortHeadProps extends Pick<ModelTableProps, 'sort' | 'sortHref'> {
  by: string;
  descendingFirst: boolean;
  className?: string;
  children: ReactNode;
}

/** A heading that sorts by its column, then in the other direction, then not at all. */
function SortHead({ by, sort, sortHref, descendingFirst, className, children }: SortHeadProps) {
  const on = sort?.by === by ? sort : null;
  const first = descendingFirst ? `-${by}` : by;
  const second = descendingFirst ? by : `-${by}`;
  const next = on === null ? first : on.descending === descendingFirst ? second : null;
  return (
    <HeadCell
      className={className}
      {...(on ? { 'aria-sort': on.descending ? 'descending' : 'ascending' } : {})}
    >
      <Link
        href={sortHref(next)}
        prefetch={false}
        scroll={false}
        className={classNames('inline-flex items-center gap-1 hover:text-ink', on && 'text-ink')}
      >
        {children}
        {on ? (
          on.descending ? (
            <ArrowDown aria-hidden className="size-3" />
          ) : (
            <ArrowUp aria-hidden className="size-3" />
          )
        ) : null}
      </Link>
    </HeadCell>
  );
}
