import { AutoTopUpForm } from '#components/billing/auto-top-up-form';
import { PortalButton } from '#components/billing/portal-button';
import type { Send } from '#components/form/answer';
import { Section } from '#components/section';
import { showMoment } from '#lib/console/show/time';
import type { ShownAutoTopUp } from '#lib/control/operations/auto-top-up/find';
import { showMoney } from '#lib/core/show-money';

interface AutoTopUpProps {
  shown: ShownAutoTopUp;
  workspace: string;
  zone: string;
  /** What whoever looks at it may do; null: look only. */
  actions: {
    readonly set: Send<ShownAutoTopUp>;
    readonly resume: Send<ShownAutoTopUp>;
    readonly portal: Send<{ url: string }>;
  } | null;
}

const reasons = {
  declined: 'The card was declined. Save another card or ask the bank, then resume.',
  authentication_required:
    'The bank asks the card holder to confirm each payment. Top up once by hand, where that is possible, then resume.',
  dispute: 'A payment was disputed. Nothing is charged until somebody resumes.',
  no_card: 'There is no card to charge. Top up with “Save the card”, then resume.',
  unreachable: 'Stripe did not answer for hours; nothing was charged. Resume when it does.',
  mismatch: 'A payment did not match its order. Ask the people who run this gateway before you resume.',
} as const;

/** The saved card, and what may be charged to it without anybody being there. */
export function AutoTopUp({ shown, workspace, zone, actions }: AutoTopUpProps) {
  const { card, paused, waitsUntil, last, thisMonth, monthlyCap, enabled } = shown;
  return (
    <Section title="Automatic top-ups" note={enabled ? (paused ? 'Paused' : 'On') : 'Off'}>
      <div className="grid gap-4 p-4">
        {paused ? (
          <p role="status" className="rounded-md bg-bad-soft px-3 py-2 text-bad leading-5">
            Paused on {showMoment(Date.parse(paused.at), zone)}. {reasons[paused.reason]}
            {paused.reason === 'declined' && paused.detail ? ` (${paused.detail.replaceAll('_', ' ')})` : ''}
          </p>
        ) : waitsUntil ? (
          <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn leading-5">
            The cap of this month is used up. They go on after {showMoment(Date.parse(waitsUntil), zone)}, or
            as soon as the cap is raised.
          </p>
        ) : null}
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
          <p>
            {card ? (
              <>
                <span className="capitalize">{card.brand}</span>{' '}
                <span className="tabular-nums">•••• {card.last4}</span>{' '}
                <span className="text-muted">expires {card.expires}</span>
              </>
            ) : (
              <span className="text-muted">No card is saved. Top up once with “Save the card”.</span>
            )}
          </p>
          {actions ? <PortalButton workspace={workspace} open={actions.portal} /> : null}
        </div>
        {actions ? (
          <AutoTopUpForm shown={shown} workspace={workspace} set={actions.set} resume={actions.resume} />
        ) : null}
        <p className="text-muted text-xs leading-5">
          {showMoney(thisMonth)} of {showMoney(monthlyCap)} this month.
          {last
            ? ` The last one, of ${showMoney(last.amount)} on ${showMoment(Date.parse(last.createdAt), zone)}, ${ends[last.status]}.`
            : ''}
        </p>
      </div>
    </Section>
  );
}

const ends = {
  open: 'is under way',
  paid: 'was paid',
  expired: 'was not made',
  failed: 'failed',
  refunded: 'was refunded',
} as const;
