import type { Metadata } from 'next';
import { Facts } from '#components/fleet/facts';
import { InnerTable } from '#components/fleet/inner-table';
import { SureButton } from '#components/fleet/sure-button';
import { When } from '#components/fleet/when';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { readForOperator } from '#lib/console/operator';
import { showBillingState } from '#lib/control/operations/top-up/state';
import { exactMoney, showCount } from '#lib/core/show-money';
import { reconcileAction } from './actions';

export const metadata: Metadata = { title: 'Payments' };

const quarantinedColumns = ['Payment', 'Why', 'Order', 'Time'].map((title) => ({ title }));
const lostColumns = [
  { title: 'Workspace' },
  { title: 'Until' },
  { title: 'Spent', right: true, place: 'figure' },
] as const;

export default async function PaymentsPage() {
  const { configured, running, at, last, lost, quarantined } = await readForOperator(showBillingState);
  const nowMs = Date.now();
  const differs = last !== null && last.drift !== '0';
  return (
    <>
      <PageHead
        help="operator-payments"
        title="Payments"
        action={
          configured ? (
            <SureButton
              label="Compare now"
              question={null}
              disabled={running}
              input={{}}
              done="The ledger was compared with Stripe"
              act={reconcileAction}
            />
          ) : null
        }
      >
        {configured
          ? 'Every hour the ledger is compared with Stripe, and each missing payment is added once.'
          : 'Card payments are not set up. Set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET.'}
      </PageHead>
      <Section title="Last comparison with Stripe">
        <Facts
          facts={[
            [
              'Result',
              <Badge key="result" tone={last === null ? 'neutral' : differs ? 'bad' : 'good'} dot>
                {running
                  ? 'Running'
                  : last === null
                    ? 'Not compared yet'
                    : differs
                      ? 'Differences found'
                      : 'No differences'}
              </Badge>,
            ],
            ['Time', <When key="at" iso={at} nowMs={nowMs} />],
            ['Checked', last === null ? '–' : `${showCount(last.checked)} events and payments`],
            [
              'Credited or debited',
              last === null
                ? '–'
                : `${showCount(last.credited)}, remaining difference ${exactMoney(last.drift)}`,
            ],
          ]}
        />
        {differs ? (
          <p className="border-t px-4 py-3 text-bad leading-5">
            The ledger and Stripe differ. Run <code>gateway billing reconcile</code> to list the payments.
          </p>
        ) : null}
      </Section>
      <Section title="Quarantined payments" note="Newest 100">
        <InnerTable
          label="Quarantined payments"
          columns={quarantinedColumns}
          none="No quarantined payments: every payment matches its order."
          rows={quarantined.map(({ event, why, payment, topUp, at: when }) => ({
            id: event,
            cells: [
              <span key="payment" className="grid font-mono text-xs">
                {payment ?? 'unknown'}
                <span className="text-muted">{event}</span>
              </span>,
              <span key="why" className="block min-w-48 leading-5 [overflow-wrap:anywhere]">
                {why}
              </span>,
              <code key="order" className="font-mono text-xs">
                {topUp === null ? '–' : `${topUp.slice(0, 13)}…`}
              </code>,
              <When key="at" iso={when} nowMs={nowMs} />,
            ],
          }))}
        />
        {quarantined.length > 0 ? (
          <p className="border-t px-4 py-3 text-muted text-xs leading-5">
            These payments were not credited. Check and refund each one in Stripe.
          </p>
        ) : null}
      </Section>
      {lost.length > 0 ? (
        <Section title="Usage lost by this database" note="Detected in the last 30 days">
          <InnerTable
            label="Lost usage"
            columns={lostColumns}
            none=""
            rows={lost.map(({ workspace, spent, until }, place) => ({
              id: `${workspace} ${place}`,
              cells: [
                workspace,
                until === null ? '–' : <When key="until" iso={until} nowMs={nowMs} />,
                exactMoney(spent),
              ],
            }))}
          />
        </Section>
      ) : null}
    </>
  );
}
