import Link from 'next/link';
import { useSearchParams } from 'next/navigation';
import { colourOf, Swatch } from '#components/charts/chart-style';
import { SortHead } from '#components/ui/sort-head';
import { Cell, Row, Table } from '#components/ui/table';
import { type ColumnOf, columnSets, shownColumns } from '#lib/console/columns';
import { showFigure } from '#lib/console/show/figure';
import { readSort, sortRows } from '#lib/console/sort';
import type { ChartData } from '#lib/console/usage/chart';
import { logHref } from '#lib/console/usage/log-href';
import { showCount, showMoney } from '#lib/core/show-money';

type Group = ChartData['groups'][number];

interface GroupColumn {
  /** What the table is sorted by with it; null: no value. */
  figure(group: Group): number | null;
  show(figure: number, chart: ChartData): string;
  /** The exact value, on hover. */
  exact?(group: Group): string;
  /** The figure of all groups; null: none is shown. */
  sum(chart: ChartData): number | null;
}

function sumOf(chart: ChartData, figure: GroupColumn['figure']): number | null {
  const figures = chart.groups.map(figure);
  return figures.includes(null) ? null : figures.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}

function countColumn(figure: GroupColumn['figure']): GroupColumn {
  return { figure, show: showCount, sum: (chart) => sumOf(chart, figure) };
}

/** The share of good answers among those with a score; null: there are none. */
function shareOf(rated: { readonly rated: number; readonly good: number } | null): number | null {
  return rated && rated.rated > 0 ? rated.good / rated.rated : null;
}

/** The columns of a group after its name and its figure. */
const looks: Readonly<Record<ColumnOf<'usage'>, GroupColumn>> = {
  share: {
    figure: ({ total }) => total,
    show: (figure, { total }) => `${Math.round((figure / (total || 1)) * 1000) / 10}%`,
    sum: () => null,
  },
  calls: { ...countColumn(({ totalCalls }) => totalCalls), sum: ({ allCalls }) => allCalls },
  errors: countColumn(({ more }) => more?.errors ?? null),
  inputTokens: countColumn(({ more }) => more?.inputTokens ?? null),
  outputTokens: countColumn(({ more }) => more?.outputTokens ?? null),
  cost: {
    figure: ({ cost }) => (cost === null ? null : Number(cost)),
    show: (figure) => showMoney(String(figure)),
    exact: ({ cost }) => (cost === null ? '' : `$${cost}`),
    sum: ({ allCost }) => Number(allCost),
  },
  cacheHits: countColumn(({ more }) => more?.cacheHits ?? null),
  saved: {
    figure: ({ more }) => (more === null ? null : Number(more.saved)),
    show: (figure) => showMoney(String(figure)),
    exact: ({ more }) => (more === null ? '' : `$${more.saved}`),
    sum: (chart) => sumOf(chart, ({ more }) => (more === null ? null : Number(more.saved))),
  },
  good: {
    figure: ({ more }) => shareOf(more),
    show: (figure) => `${Math.round(figure * 1000) / 10}%`,
    exact: ({ more }) =>
      more && more.rated > 0 ? `${showCount(more.good)} of ${showCount(more.rated)} with feedback` : '',
    sum: ({ groups }) => {
      const sum = { rated: 0, good: 0 };
      for (const { more } of groups) {
        sum.rated += more?.rated ?? 0;
        sum.good += more?.good ?? 0;
      }
      return shareOf(sum);
    },
  },
};

interface GroupTableProps {
  chart: ChartData;
  heading: string;
  /** The columns that were chosen; null: the default ones. */
  columns: readonly string[] | null;
}

/** The groups of a chart with their totals, each with a link to its calls in the log. */
export function GroupTable({ chart, heading, columns }: GroupTableProps) {
  const { kind, total } = chart;
  // The place of a group is its colour in the chart, in whatever order the table is.
  const groups = chart.groups.map((group, index) => ({ ...group, colour: colourOf(index, group.rest) }));
  const costs = kind !== 'money';
  const shares = chart.shape === 'bars' && total !== null && total > 0;
  const shown = shownColumns('usage', columns).filter(
    (column) => (column !== 'share' || shares) && (column !== 'cost' || costs),
  );
  const sorted = sortRows(groups, readSort(useSearchParams().get('sort')), {
    name: ({ label }) => label,
    figure: (group) => group.total,
    ...Object.fromEntries(shown.map((column) => [column, looks[column].figure])),
  });
  const span = { from: chart.starts[0] ?? chart.end, to: chart.end };
  const foot = 'border-t border-b-0';
  const figureOf = (column: ColumnOf<'usage'>, figure: number | null) =>
    figure === null ? <span className="text-muted">–</span> : looks[column].show(figure, chart);
  return (
    <Table label={`${chart.title} by ${heading.toLowerCase()}`}>
      <thead>
        <tr>
          <SortHead by="name">{heading}</SortHead>
          <SortHead by="figure" descendingFirst className="text-right">
            {chart.title}
          </SortHead>
          {shown.map((column) => (
            <SortHead key={column} by={column} descendingFirst className="text-right">
              {columnSets.usage.names[column]}
            </SortHead>
          ))}
        </tr>
      </thead>
      <tbody>
        {sorted.map((group) => (
          <Row key={group.id}>
            <Cell place="title" className="max-w-72">
              <span className="flex items-center gap-2">
                <Swatch colour={group.colour} />
                {group.filters ? (
                  <Link
                    href={logHref(chart.logPath, group.filters, span)}
                    prefetch={false}
                    title={`Show these calls in the log: ${group.label}`}
                    dir="auto"
                    className="truncate max-sm:whitespace-normal max-sm:[overflow-wrap:anywhere] font-medium hover:underline"
                  >
                    {group.label}
                  </Link>
                ) : (
                  <span
                    dir="auto"
                    className="truncate max-sm:whitespace-normal max-sm:[overflow-wrap:anywhere] font-medium"
                    title={group.label}
                  >
                    {group.label}
                  </span>
                )}
              </span>
            </Cell>
            <Cell
              place="figure"
              className="text-right tabular-nums"
              title={costs || group.cost === null ? '' : `$${group.cost}`}
            >
              {showFigure(kind, group.total)}
            </Cell>
            {shown.map((column) => (
              <Cell
                key={column}
                label={columnSets.usage.names[column]}
                className={`whitespace-nowrap text-right tabular-nums ${column === 'share' ? 'text-muted' : ''}`}
                title={looks[column].exact?.(group)}
              >
                {figureOf(column, looks[column].figure(group))}
              </Cell>
            ))}
          </Row>
        ))}
      </tbody>
      {groups.length > 1 ? (
        <tfoot>
          <Row className="font-medium">
            <Cell place="title" className={`${foot} text-muted`}>
              Total
            </Cell>
            <Cell place="figure" className={`${foot} text-right tabular-nums`}>
              {showFigure(kind, total)}
            </Cell>
            {shown.map((column) =>
              column === 'share' ? (
                <Cell key={column} className={foot} />
              ) : (
                <Cell
                  key={column}
                  label={columnSets.usage.names[column]}
                  className={`${foot} text-right tabular-nums`}
                  title={column === 'cost' ? `$${chart.allCost}` : undefined}
                >
                  {figureOf(column, looks[column].sum(chart))}
                </Cell>
              ),
            )}
          </Row>
        </tfoot>
      ) : null}
    </Table>
  );
}
