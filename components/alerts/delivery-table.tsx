'use client';

import { type ListColumns, ListTable } from '#components/columns/list-table';
import type { FormAnswer } from '#components/form/answer';
import { useChange } from '#components/form/use-change';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import type { ColumnOf } from '#lib/console/columns';
import type { DeliveryRow } from '#lib/console/team/delivery-rows';

/** The page also has pages of alerts. */
const parameter = 'deliveries';

const looks: ListColumns<DeliveryRow, 'deliveries'> = {
  fixed: {
    sort: { parameter, by: 'event' },
    place: 'title',
    show: (row) => <code className="font-mono text-[0.8125rem]">{row.event}</code>,
  },
  state: {
    place: 'figure',
    show: (row) => (
      <Badge tone={row.tone} dot title={row.next ?? undefined}>
        {row.state}
      </Badge>
    ),
  },
  tries: {
    sort: { parameter, by: 'tries', descendingFirst: true },
    className: 'tabular-nums',
    show: (row) => row.tries,
  },
  answer: { className: 'min-w-40 [overflow-wrap:anywhere]', show: (row) => row.answer },
  queued: {
    sort: { parameter, by: 'queued', descendingFirst: true, usual: 'descending' },
    className: 'whitespace-nowrap',
    title: (row) => row.queued.exact,
    show: (row) => row.queued.text,
  },
  delivered: {
    className: 'whitespace-nowrap',
    title: (row) => row.delivered?.exact,
    show: (row) => row.delivered?.text ?? '–',
  },
  id: {
    className: 'min-w-40',
    show: (row) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{row.id}</code>,
  },
};

interface DeliveryTableProps {
  workspace: string;
  webhook: string;
  rows: readonly DeliveryRow[];
  /** The columns after the event. */
  columns: readonly ColumnOf<'deliveries'>[];
  mayChange: boolean;
  redeliver(workspace: string, input: { id: string; delivery: string }): Promise<FormAnswer<unknown>>;
}

/** The deliveries of a webhook and their results. */
export function DeliveryTable(props: DeliveryTableProps) {
  const { workspace, webhook, rows, columns, mayChange, redeliver } = props;
  const { pending, make } = useChange();
  const again = (delivery: string) =>
    make(redeliver(workspace, { id: webhook, delivery }), 'Delivery queued again');

  return (
    <ListTable
      label="Deliveries"
      table="deliveries"
      looks={looks}
      columns={columns}
      rows={rows}
      actions={{
        show: (row) =>
          mayChange ? (
            <Button size="small" disabled={pending} onClick={() => again(row.id)}>
              Send again
            </Button>
          ) : null,
      }}
    />
  );
}
