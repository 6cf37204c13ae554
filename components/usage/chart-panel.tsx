'use client';

import { parseAsBoolean, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import type { ReactNode } from 'react';
import { ChartFrame } from '#components/charts/chart-frame';
import { DashedLine, Legend } from '#components/charts/legend';
import { useColumns } from '#components/columns/chosen-columns';
import { ColumnMenu } from '#components/columns/column-menu';
import { Checkbox } from '#components/ui/checkbox';
import { ToggleGroup } from '#components/ui/toggle-group';
import { GroupTable } from '#components/usage/group-table';
import { TimeTable } from '#components/usage/time-table';
import type { ChartData } from '#lib/console/usage/chart';

const tables = ['groups', 'time'] as const;
/** Settings that only change how the same figures are shown; they are also in the URL but load nothing. */
const view = {
  only: parseAsString,
  table: parseAsStringLiteral(tables).withDefault('groups'),
  compare: parseAsBoolean.withDefault(true),
};

interface ChartPanelProps {
  chart: ChartData;
  /** What the chart is stacked by: "Model". */
  heading: string;
  /** Shown above the chart, in its frame. */
  head: ReactNode;
  /** Shown beside the table switch: the CSV download. */
  action: ReactNode;
}

/** A chart with its groups and its tables. */
export function ChartPanel({ chart, heading, head, action }: ChartPanelProps) {
  const [{ only, table, compare }, setView] = useQueryStates(view);
  const { chosen: columns } = useColumns();
  const chosen = chart.groups.findIndex(({ id }) => id === only);
  const alone = chosen < 0 ? null : chosen;
  const drawn = chart.groups.map((_, index) => index).filter((index) => alone === null || alone === index);
  return (
    <div className="grid min-w-0 grid-cols-1 gap-3">
      <section
        aria-label="Chart"
        className="grid min-w-0 grid-cols-1 gap-2 rounded-lg border bg-surface pt-3 pb-2"
      >
        {head}
        <Legend
          groups={chart.groups}
          only={alone}
          onOnly={(index) => setView({ only: index === null ? null : (chart.groups[index]?.id ?? null) })}
        />
        <ChartFrame chart={chart} drawn={drawn} compared={compare && alone === null} />
      </section>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <ToggleGroup
          label="Table"
          value={table}
          options={[
            { value: 'groups', label: 'Totals' },
            { value: 'time', label: 'Over time' },
          ]}
          onChange={(next) => setView({ table: next })}
        />
        <div className="flex flex-wrap items-center gap-2">
          <Checkbox checked={compare} onChange={(next) => setView({ compare: next })}>
            <DashedLine />
          </Checkbox>
          {table === 'groups' ? <ColumnMenu /> : null}
          {action}
        </div>
      </div>
      {table === 'time' ? (
        <TimeTable chart={chart} />
      ) : (
        <GroupTable chart={chart} heading={heading} columns={columns} />
      )}
    </div>
  );
}
