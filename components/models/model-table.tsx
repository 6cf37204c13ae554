import Link from 'next/link';
import type { ReactNode } from 'react';
import { CompareBox } from '#components/models/compare-box';
import { Retirement } from '#components/models/retirement';
import { classNames } from '#components/ui/class-names';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { type ColumnOf, columnSets } from '#lib/console/columns';
import type { ModelRow } from '#lib/console/models/rows';

interface ModelColumn {
  readonly sort?: { readonly by: string; readonly descendingFirst?: boolean };
  readonly headClass: string;
  readonly cellClass: string;
  show(row: ModelRow): ReactNode;
}

const unknown = (
  <span className="text-muted" title="Unknown or none">
    –
  </span>
);
const price = { cellClass: 'text-right tabular-nums' };
const words = { headClass: 'w-34', cellClass: 'text-muted text-xs leading-4' };

/** The columns of a model after its name. */
const looks: Readonly<Record<ColumnOf<'models'>, ModelColumn>> = {
  context: {
    ...price,
    headClass: 'w-22 text-right',
    sort: { by: 'context', descendingFirst: true },
    show: ({ context }) => context ?? unknown,
  },
  maxOutput: { ...price, headClass: 'w-22 text-right', show: ({ maxOutput }) => maxOutput ?? unknown },
  input: {
    ...price,
    headClass: 'w-25 text-right',
    sort: { by: 'input' },
    show: ({ input }) => input ?? unknown,
  },
  output: {
    ...price,
    headClass: 'w-27 text-right',
    sort: { by: 'output' },
    show: ({ output }) => output ?? unknown,
  },
  types: {
    ...words,
    show: ({ reads, writes }) => (
      <>
        {reads} → {writes}
      </>
    ),
  },
  protocols: { ...words, show: ({ families }) => families.join(', ') || unknown },
  capabilities: { ...words, show: ({ capabilities }) => capabilities.join(', ') || unknown },
  providers: {
    headClass: 'w-40',
    cellClass: '[overflow-wrap:anywhere]',
    show: (row) => (
      <>
        <Providers names={row.providers} />
        {row.callable ? null : (
          <span
            className="block text-muted text-xs"
            title="No offer of this model can be called on this gateway."
          >
            Not available
          </span>
        )}
      </>
    ),
  },
  released: {
    headClass: 'w-27',
    cellClass: 'whitespace-nowrap text-muted tabular-nums',
    sort: { by: 'released', descendingFirst: true },
    show: ({ released }) => released ?? unknown,
  },
};

interface ModelTableProps {
  rows: readonly ModelRow[];
  mostCompared: number;
  /** The columns after the model. */
  columns: readonly ColumnOf<'models'>[];
}

export function ModelTable({ rows, mostCompared, columns }: ModelTableProps) {
  return (
    // Fixed column widths, so that rows that arrive later do not widen them.
    <Table
      label="Models"
      className={classNames('table-fixed', columns.length > 7 ? 'min-w-[76rem]' : 'min-w-[60rem]')}
    >
      <thead>
        <tr>
          <HeadCell className="w-9 pr-0">
            <span className="sr-only">Compare</span>
          </HeadCell>
          <SortHead by="name">{columnSets.models.fixed}</SortHead>
          {columns.map((column) => {
            const { sort, headClass } = looks[column];
            const head = columnSets.models.names[column];
            return sort ? (
              <SortHead key={column} className={headClass} {...sort}>
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
        {rows.map((row) => (
          <Row key={row.id}>
            <Cell place="menu" className="pr-0">
              <CompareBox id={row.id} name={row.name} most={mostCompared} />
            </Cell>
            <Cell place="title">
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
            {columns.map((column) => (
              <Cell key={column} label={columnSets.models.names[column]} className={looks[column].cellClass}>
                {looks[column].show(row)}
              </Cell>
            ))}
          </Row>
        ))}
      </tbody>
    </Table>
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
