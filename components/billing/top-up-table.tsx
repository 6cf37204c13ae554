import { CancelButton, type CancelTopUp } from '#components/billing/cancel-button';
import { Badge, type BadgeTone } from '#components/ui/badge';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { failureText } from '#lib/console/billing/failure';
import { showMoment } from '#lib/console/show/time';
import type { ShownTopUp } from '#lib/control/operations/top-up/find';
import { showMoney } from '#lib/core/show-money';

const states: Record<ShownTopUp['status'], { tone: BadgeTone; text: string }> = {
  open: { tone: 'info', text: 'Waiting for payment' },
  paid: { tone: 'good', text: 'Paid' },
  expired: { tone: 'neutral', text: 'Expired' },
  failed: { tone: 'bad', text: 'Failed' },
  refunded: { tone: 'warn', text: 'Refunded' },
  canceled: { tone: 'neutral', text: 'Canceled' },
};

interface TopUpTableProps {
  topUps: readonly ShownTopUp[];
  zone: string;
  /** Slug. */
  workspace: string;
  /** Gives one up; null: the role of the reader may not. */
  cancel: CancelTopUp | null;
}

/** The top-ups of a workspace, each with what can be done with it. */
export function TopUpTable({ topUps, zone, workspace, cancel }: TopUpTableProps) {
  return (
    <Table label="Top-ups" framed={false}>
      <thead>
        <tr>
          <SortHead by="created" descendingFirst usual="descending">
            Created
          </SortHead>
          <HeadCell>Status</HeadCell>
          <SortHead by="amount" descendingFirst className="text-right">
            Amount
          </SortHead>
          <HeadCell className="text-right">Fee</HeadCell>
          <SortHead by="refunded" descendingFirst className="text-right">
            Refunded
          </SortHead>
          <HeadCell>
            <span className="sr-only">Next step</span>
          </HeadCell>
        </tr>
      </thead>
      <tbody>
        {topUps.map((one) => (
          <Row key={one.id}>
            <Cell place="title" className="whitespace-nowrap" title={one.createdAt}>
              {showMoment(Date.parse(one.createdAt), zone)}
              {one.automatic ? <span className="text-muted"> · automatic</span> : null}
              {one.test ? <span className="text-muted"> · test</span> : null}
            </Cell>
            <Cell place="state">
              <Badge dot tone={one.failure ? 'bad' : states[one.status].tone}>
                {one.status === 'open' && one.failure ? 'Declined' : states[one.status].text}
              </Badge>
              {one.failure ? (
                <span className="mt-1 block max-w-72 text-muted text-xs leading-4">
                  {failureText(one.failure)}
                </span>
              ) : null}
            </Cell>
            <Cell place="figure" className="text-right tabular-nums">
              {showMoney(one.amount)}
            </Cell>
            <Cell label="Fee" className="text-right text-muted tabular-nums">
              {showMoney(one.fee)}
            </Cell>
            <Cell label="Refunded" className="text-right text-muted tabular-nums">
              {one.refunded === '0' ? '–' : showMoney(one.refunded)}
            </Cell>
            <Cell place="aside" className="whitespace-nowrap text-right">
              {one.status === 'open' && !one.automatic ? (
                <span className="inline-flex gap-3">
                  {one.url ? (
                    <a className="underline underline-offset-2" href={one.url}>
                      Pay now
                    </a>
                  ) : null}
                  {cancel ? (
                    <CancelButton workspace={workspace} id={one.id} cancel={cancel} label="Cancel" />
                  ) : null}
                </span>
              ) : (
                <span className="inline-flex gap-3">
                  {one.receiptUrl ? <Paper href={one.receiptUrl}>Receipt</Paper> : null}
                  {one.invoiceUrl ? <Paper href={one.invoiceUrl}>Invoice</Paper> : null}
                </span>
              )}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

function Paper({ href, children }: { href: string; children: string }) {
  return (
    <a className="underline underline-offset-2" href={href} rel="noreferrer">
      {children}
    </a>
  );
}
