import Link from 'next/link';
import { useSearchParams } from 'next/navigation';
import { colourOf, Swatch } from '#components/charts/chart-style';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { showFigure } from '#lib/console/show/figure';
import { readSort, sortRows } from '#lib/console/sort';
import type { ChartData } from '#lib/console/usage/chart';
import { logHref } from '#lib/console/usage/log-href';
import { showCount, showMoney } from '#lib/core/show-money';

/** The groups of a chart with their totals, each with a link to its calls in the log. */
export function GroupTable({ chart, heading }: { chart: ChartData; heading: string }) {
  const { kind, total } = chart;
  // The place of a group is its colour in the chart, in whatever order the table is.
  const groups = chart.groups.map((group, index) => ({ ...group, colour: colourOf(index, group.rest) }));
  const sorted = sortRows(groups, readSort(useSearchParams().get('sort')), {
    name: ({ label }) => label,
    figure: (group) => group.total,
    calls: ({ totalCalls }) => totalCalls,
    cost: ({ cost }) => (cost === null ? null : Number(cost)),
  });
  const span = { from: chart.starts[0] ?? chart.end, to: chart.end };
  const costs = kind !== 'money';
  const shares = chart.shape === 'bars' && total !== null && total > 0;
  return (
    <Table label={`${chart.title} by ${heading.toLowerCase()}`}>
      <thead>
        <tr>
          <SortHead by="name">{heading}</SortHead>
          <SortHead by="figure" descendingFirst className="text-right">
            {chart.title}
          </SortHead>
          {shares ? <HeadCell className="text-right">Share</HeadCell> : null}
          <SortHead by="calls" descendingFirst className="text-right">
            Calls
          </SortHead>
          {costs ? (
            <SortHead by="cost" descendingFirst className="text-right">
              Cost
            </SortHead>
          ) : null}
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
                    className="truncate font-medium hover:underline"
                  >
                    {group.label}
                  </Link>
                ) : (
                  <span className="truncate font-medium">{group.label}</span>
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
            {shares ? (
              <Cell label="Share" className="whitespace-nowrap text-right text-muted tabular-nums">
                {Math.round(((group.total ?? 0) / total) * 1000) / 10}%
              </Cell>
            ) : null}
            <Cell label="Calls" className="text-right tabular-nums">
              {showCount(group.totalCalls)}
            </Cell>
            {costs ? (
              <Cell
                label="Cost"
                className="text-right tabular-nums"
                title={group.cost === null ? '' : `$${group.cost}`}
              >
                {group.cost === null ? <span className="text-muted">–</span> : showMoney(group.cost)}
              </Cell>
            ) : null}
          </Row>
        ))}
      </tbody>
      {groups.length > 1 ? (
        <tfoot>
          <Row className="font-medium">
            <Cell place="title" className="border-t border-b-0 text-muted">
              Total
            </Cell>
            <Cell place="figure" className="border-t border-b-0 text-right tabular-nums">
              {showFigure(kind, total)}
            </Cell>
            {shares ? <Cell className="border-t border-b-0" /> : null}
            <Cell label="Calls" className="border-t border-b-0 text-right tabular-nums">
              {showCount(chart.allCalls)}
            </Cell>
            {costs ? (
              <Cell
                label="Cost"
                className="border-t border-b-0 text-right tabular-nums"
                title={`$${chart.allCost}`}
              >
                {showMoney(chart.allCost)}
              </Cell>
            ) : null}
          </Row>
        </tfoot>
      ) : null}
    </Table>
  );
}
