import { AutoTopUpForm } from '#components/billing/auto-top-up-form';
import { PortalButton } from '#components/billing/portal-button';
import type { Send } from '#components/form/answer';
import { Section } from '#components/section';
import { showMoment } from '#lib/console/show/time';
import type { ShownAutoTopUp } from '#lib/control/operations/auto-top-up/find';
import { showMoney } from '#lib/core/show-money';

interface AutoTopUpProps {
  shown: ShownAutoTopUp;
  /** In sentences; null: they are not paused. */
  pausedWhy: string | null;
  workspace: string;
  zone: string;
  /** What the current user may do; null: view only. */
  actions: {
    readonly set: Send<ShownAutoTopUp>;
    readonly resume: Send<ShownAutoTopUp>;
    readonly portal: Send<{ url: string }>;
  } | null;
}

/** The saved card, and what may be charged to it without anybody being there. */
export function AutoTopUp({ shown, pausedWhy, workspace, zone, actions }: AutoTopUpProps) {
  const { card, paused, waitsUntil, last, thisMonth, monthlyCap, enabled } = shown;
  return (
    <Section title="Automatic top-ups" note={enabled ? (paused ? 'Paused' : 'On') : 'Off'}>
      <div className="grid gap-4 p-4">
        {paused ? (
          <p role="status" className="rounded-md bg-bad-soft px-3 py-2 text-bad leading-5">
            Paused on {showMoment(Date.parse(paused.at), zone)}. {pausedWhy}
          </p>
        ) : waitsUntil ? (
          <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn leading-5">
            This month’s maximum is used up. Top-ups continue after {showMoment(Date.parse(waitsUntil), zone)}
            , or as soon as you raise the maximum.
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
              <span className="text-muted">No saved card. Top up once with “Save the card”.</span>
            )}
          </p>
          {actions ? <PortalButton workspace={workspace} open={actions.portal} /> : null}
        </div>
        {actions ? (
          <AutoTopUpForm
            key={[enabled, shown.threshold, shown.amount, monthlyCap].join()}
            shown={shown}
            workspace={workspace}
            set={actions.set}
            resume={actions.resume}
          />
        ) : null}
        <p className="text-muted text-xs leading-5">
          {showMoney(thisMonth)} of {showMoney(monthlyCap)} this month.
          {last
            ? ` The latest, ${showMoney(last.amount)} on ${showMoment(Date.parse(last.createdAt), zone)}, ${ends[last.status]}.`
            : ''}
        </p>
      </div>
    </Section>
  );
}

const ends = {
  open: 'is in progress',
  paid: 'was paid',
  expired: 'was not completed',
  failed: 'failed',
  refunded: 'was refunded',
  canceled: 'was canceled',
} as const;
