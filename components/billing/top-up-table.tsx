import { CancelButton, type CancelTopUp } from '#components/billing/cancel-button';
import { figureColumn, type ListColumns, ListTable } from '#components/columns/list-table';
import { Badge, type BadgeTone } from '#components/ui/badge';
import { failureText } from '#lib/console/billing/failure';
import type { ColumnOf } from '#lib/console/columns';
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
  /** The columns after the time. */
  columns: readonly ColumnOf<'topUps'>[];
  zone: string;
  /** Slug. */
  workspace: string;
  /** Gives one up; null: the role of the reader may not. */
  cancel: CancelTopUp | null;
}

const looksIn = (zone: string): ListColumns<ShownTopUp, 'topUps'> => ({
  fixed: {
    sort: { by: 'created', descendingFirst: true, usual: 'descending' },
    place: 'title',
    className: 'whitespace-nowrap',
    title: (one) => one.createdAt,
    show: (one) => (
      <>
        {showMoment(Date.parse(one.createdAt), zone)}
        {one.automatic ? <span className="text-muted"> · automatic</span> : null}
        {one.test ? <span className="text-muted"> · test</span> : null}
      </>
    ),
  },
  status: {
    place: 'state',
    show: (one) => (
      <>
        <Badge dot tone={one.failure ? 'bad' : states[one.status].tone}>
          {one.status === 'open' && one.failure ? 'Declined' : states[one.status].text}
        </Badge>
        {one.failure ? (
          <span className="mt-1 block max-w-72 text-muted text-xs leading-4">{failureText(one.failure)}</span>
        ) : null}
      </>
    ),
  },
  amount: {
    ...figureColumn,
    sort: { by: 'amount', descendingFirst: true },
    place: 'figure',
    show: (one) => showMoney(one.amount),
  },
  fee: { ...figureColumn, show: (one) => <span className="text-muted">{showMoney(one.fee)}</span> },
  refunded: {
    ...figureColumn,
    sort: { by: 'refunded', descendingFirst: true },
    show: (one) => <span className="text-muted">{one.refunded === '0' ? '–' : showMoney(one.refunded)}</span>,
  },
  paid: {
    className: 'whitespace-nowrap',
    title: (one) => one.paidAt ?? undefined,
    show: (one) => (one.paidAt ? showMoment(Date.parse(one.paidAt), zone) : '–'),
  },
  id: {
    className: 'min-w-40',
    show: (one) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{one.id}</code>,
  },
});

/** The top-ups of a workspace, each with what can be done with it. */
export function TopUpTable({ topUps, columns, zone, workspace, cancel }: TopUpTableProps) {
  return (
    <ListTable
      label="Top-ups"
      table="topUps"
      looks={looksIn(zone)}
      columns={columns}
      rows={topUps}
      framed={false}
      actions={{
        name: 'Next step',
        place: 'aside',
        className: 'whitespace-nowrap text-right',
        show: (one) =>
          one.status === 'open' && !one.automatic ? (
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
          ),
      }}
    />
  );
}

function Paper({ href, children }: { href: string; children: string }) {
  return (
    <a className="underline underline-offset-2" href={href} rel="noreferrer">
      {children}
    </a>
  );
}
