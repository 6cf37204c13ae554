'use client';

import { CircleCheck, Clock } from 'lucide-react';
import Link from 'next/link';
import { CancelButton, type CancelTopUp } from '#components/billing/cancel-button';
import { useReadAgain } from '#components/live/use-read-again';
import { classNames } from '#components/ui/class-names';
import { failureText } from '#lib/console/billing/failure';
import type { ShownTopUp } from '#lib/control/operations/top-up/find';
import { showMoney } from '#lib/core/show-money';

const everyMs = 1_500;
/** An abandoned page stops asking; a reload starts again. */
const mostTimes = { open: 200, paid: 20 };

interface TopUpReturnProps {
  topUp: ShownTopUp;
  /** Whether they came back by the way that cancels the payment. */
  canceled: boolean;
  /** Slug. */
  workspace: string;
  /** Gives the top-up up; null: the role of the reader may not. */
  cancel: CancelTopUp | null;
}

/**
 * The status of the top-up that the user returns from. The return itself proves nothing: the page waits until
 * Stripe has notified the gateway, and a bit longer for the saved card, the receipt and the invoice, which
 * the gateway requests after the credit.
 */
export function TopUpReturn({ topUp, canceled, workspace, cancel }: TopUpReturnProps) {
  const { status, receiptUrl, invoiceUrl, failure } = topUp;
  // Who comes back by Stripe's own way back has not paid.
  const leftOpen = status === 'open' && canceled;
  const waits = status === 'open' && !canceled;
  const billing = `/${workspace}/billing`;
  const times = waits
    ? mostTimes.open
    : status === 'paid' && !(receiptUrl && invoiceUrl)
      ? mostTimes.paid
      : 0;
  useReadAgain(everyMs, times);
  const paid = status === 'paid';
  return (
    <div
      role="status"
      className={classNames(
        'flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg px-4 py-2.5 leading-5',
        paid ? 'bg-good-soft text-good' : waits ? 'bg-info-soft text-info' : 'bg-warn-soft text-warn',
      )}
    >
      {paid ? <CircleCheck aria-hidden className="size-4" /> : <Clock aria-hidden className="size-4" />}
      <p className="min-w-0 flex-1 basis-64">
        {leftOpen ? 'You canceled the payment; nothing was charged.' : said(topUp)}
        {status === 'open' && failure ? ` ${failureText(failure)}` : null}
      </p>
      {topUp.url ? (
        <a href={topUp.url} className="font-medium underline underline-offset-2">
          {leftOpen ? 'Try again' : 'Back to the payment'}
        </a>
      ) : null}
      {leftOpen && cancel ? (
        <CancelButton workspace={workspace} id={topUp.id} cancel={cancel} then={billing} label="Dismiss" />
      ) : (
        <Link href={billing} className="font-medium underline underline-offset-2">
          Dismiss
        </Link>
      )}
    </div>
  );
}

function said({ status, amount, test, failure }: ShownTopUp): string {
  const much = showMoney(amount);
  switch (status) {
    case 'paid':
      return `${much} was added to your balance. ${test ? 'This was a test payment: no card was charged. ' : ''}Calls can use it now.`;
    case 'open':
      return `Waiting for confirmation of the ${much} payment. This page updates automatically; if you did not pay, you are not charged.`;
    case 'expired':
      return `The payment page for ${much} has expired; nothing was charged.`;
    case 'failed':
      return `The payment of ${much} failed; nothing was charged. ${failure ? failureText(failure) : 'Try another card.'}`;
    case 'canceled':
      return `The top-up of ${much} was canceled; nothing was charged.`;
    case 'refunded':
      return `The payment of ${much} was refunded.`;
  }
}
