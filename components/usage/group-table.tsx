import Link from 'next/link';
import { colourOf, Swatch } from '#components/charts/chart-style';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { showFigure } from '#lib/console/show/figure';
import type { ChartData } from '#lib/console/usage/chart';
import { logHref } from '#lib/console/usage/log-href';
import { showCount, showMoney } from '#lib/core/show-money';

/** The groups of a chart with their totals, each with a link to its calls in the log. */
export function GroupTable({ chart, heading }: { chart: ChartData; heading: string }) {
  const { groups, kind, total } = chart;
  const span = { from: chart.starts[0] ?? chart.end, to: chart.end };
  const costs = kind !== 'money';
  const shares = chart.shape === 'bars' && total !== null && total > 0;
  return (
    <Table label={`${chart.title} by ${heading.toLowerCase()}`}>
      <thead>
        <tr>
          <HeadCell>{heading}</HeadCell>
          <HeadCell className="text-right">{chart.title}</HeadCell>
          {shares ? <HeadCell className="text-right">Share</HeadCell> : null}
          <HeadCell className="text-right">Calls</HeadCell>
          {costs ? <HeadCell className="text-right">Cost</HeadCell> : null}
        </tr>
      </thead>
      <tbody>
        {groups.map((group, index) => (
          <Row key={group.id}>
            <Cell className="max-w-72">
              <span className="flex items-center gap-2">
                <Swatch colour={colourOf(index, group.rest)} />
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
              className="text-right tabular-nums"
              title={costs || group.cost === null ? '' : `$${group.cost}`}
            >
              {showFigure(kind, group.total)}
            </Cell>
            {shares ? (
              <Cell className="whitespace-nowrap text-right text-muted tabular-nums">
                {Math.round(((group.total ?? 0) / total) * 1000) / 10}%
              </Cell>
            ) : null}
            <Cell className="text-right tabular-nums">{showCount(group.totalCalls)}</Cell>
            {costs ? (
              <Cell className="text-right tabular-nums" title={group.cost === null ? '' : `$${group.cost}`}>
                {group.cost === null ? <span className="text-muted">–</span> : showMoney(group.cost)}
              </Cell>
            ) : null}
          </Row>
        ))}
      </tbody>
      {groups.length > 1 ? (
        <tfoot>
          <tr className="font-medium">
            <Cell className="border-t border-b-0 text-muted">Total</Cell>
            <Cell className="border-t border-b-0 text-right tabular-nums">{showFigure(kind, total)}</Cell>
            {shares ? <Cell className="border-t border-b-0" /> : null}
            <Cell className="border-t border-b-0 text-right tabular-nums">{showCount(chart.allCalls)}</Cell>
            {costs ? (
              <Cell className="border-t border-b-0 text-right tabular-nums" title={`$${chart.allCost}`}>
                {showMoney(chart.allCost)}
              </Cell>
            ) : null}
          </tr>
        </tfoot>
      ) : null}
    </Table>
  );
}
