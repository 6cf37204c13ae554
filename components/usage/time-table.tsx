import Link from 'next/link';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { showFigure } from '#lib/console/show/figure';
import type { ChartData } from '#lib/console/usage/chart';
import { logHref } from '#lib/console/usage/log-href';

/** The chart as a table, newest first; each figure links to the calls it counts. */
export function TimeTable({ chart }: { chart: ChartData }) {
  const { groups, kind } = chart;
  const alone = groups.length < 2;
  const places = chart.starts.map((_, at) => at).reverse();
  return (
    <Table label={`${chart.title} over time`} height="max-h-120">
      <thead>
        <tr>
          <HeadCell>Time</HeadCell>
          {alone ? null : <HeadCell className="text-right">Total</HeadCell>}
          {groups.map(({ id, label }) => (
            <HeadCell key={id} className="text-right">
              <span dir="auto" className="inline-block max-w-40 truncate align-bottom" title={label}>
                {label}
              </span>
            </HeadCell>
          ))}
        </tr>
      </thead>
      <tbody>
        {places.map((at) => (
          <TimeRow key={chart.starts[at]} chart={chart} at={at} alone={alone} kind={kind} />
        ))}
      </tbody>
    </Table>
  );
}

function TimeRow({
  chart,
  at,
  alone,
  kind,
}: {
  chart: ChartData;
  at: number;
  alone: boolean;
  kind: ChartData['kind'];
}) {
  const span = { from: chart.starts[at] ?? '', to: chart.starts[at + 1] ?? chart.end };
  const figure = (value: number | null, filters: Readonly<Record<string, string>> | null) =>
    value !== null && value !== 0 && filters ? (
      <Link
        href={logHref(chart.logPath, filters, span)}
        prefetch={false}
        className="underline decoration-line-strong/50 underline-offset-3 hover:decoration-current"
      >
        {showFigure(kind, value)}
      </Link>
    ) : (
      <span className={value ? '' : 'text-muted'}>{showFigure(kind, value)}</span>
    );
  return (
    <Row>
      <Cell place="title" className="whitespace-nowrap py-1.5 tabular-nums">
        {chart.longLabels[at]}
      </Cell>
      {alone ? null : (
        <Cell place="figure" className="whitespace-nowrap py-1.5 text-right font-medium tabular-nums">
          {figure(chart.totals[at] ?? null, chart.filters)}
        </Cell>
      )}
      {chart.groups.map((group) => (
        <Cell
          key={group.id}
          {...(alone ? { place: 'figure' } : { label: group.label })}
          className="whitespace-nowrap py-1.5 text-right tabular-nums"
        >
          {figure(group.points[at] ?? null, group.filters)}
        </Cell>
      ))}
    </Row>
  );
}
