'use client';

import type { FormAnswer } from '#components/form/answer';
import { useChange } from '#components/form/use-change';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { DeliveryRow } from '#lib/console/team/delivery-rows';

interface DeliveryTableProps {
  workspace: string;
  webhook: string;
  rows: readonly DeliveryRow[];
  mayChange: boolean;
  redeliver(workspace: string, input: { id: string; delivery: string }): Promise<FormAnswer<unknown>>;
}

/** The page also has pages of alerts. */
const ofDeliveries = { parameter: 'deliveries' };

/** The deliveries of a webhook and their results. */
export function DeliveryTable({ workspace, webhook, rows, mayChange, redeliver }: DeliveryTableProps) {
  const { pending, make } = useChange();
  const again = (delivery: string) =>
    make(redeliver(workspace, { id: webhook, delivery }), 'Delivery queued again');

  return (
    <Table label="Deliveries">
      <thead>
        <tr>
          <SortHead {...ofDeliveries} by="event">
            Event
          </SortHead>
          <HeadCell>State</HeadCell>
          <SortHead {...ofDeliveries} by="tries" descendingFirst>
            Tries
          </SortHead>
          <HeadCell>Last response</HeadCell>
          <SortHead {...ofDeliveries} by="queued" descendingFirst usual="descending">
            Queued
          </SortHead>
          <ActionsHeadCell />
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id}>
            <Cell place="title">
              <code className="font-mono text-[0.8125rem]">{row.event}</code>
            </Cell>
            <Cell place="figure">
              <Badge tone={row.tone} dot title={row.next ?? undefined}>
                {row.state}
              </Badge>
            </Cell>
            <Cell label="Tries" className="tabular-nums">
              {row.tries}
            </Cell>
            <Cell label="Last response" className="min-w-40 [overflow-wrap:anywhere]">
              {row.answer}
            </Cell>
            <Cell label="Queued" className="whitespace-nowrap" title={row.queued.exact}>
              {row.queued.text}
            </Cell>
            <Cell className="w-px">
              {mayChange ? (
                <Button size="small" disabled={pending} onClick={() => again(row.id)}>
                  Send again
                </Button>
              ) : null}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
