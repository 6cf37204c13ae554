'use client';

import { CircleCheck, Clock } from 'lucide-react';
import Link from 'next/link';
import { useReadAgain } from '#components/live/use-read-again';
import { classNames } from '#components/ui/class-names';
import type { ShownTopUp } from '#lib/control/operations/top-up/find';
import { showMoney } from '#lib/core/show-money';

const everyMs = 1_500;
/** An abandoned page stops asking; a reload starts again. */
const mostTimes = { open: 200, paid: 20 };

/**
 * The status of the top-up that the user returns from. The return itself proves nothing: the page waits until
 * Stripe has notified the gateway, and a bit longer for the saved card, the receipt and the invoice, which
 * the gateway requests after the credit.
 */
export function TopUpReturn({ topUp, billing }: { topUp: ShownTopUp; billing: string }) {
  const { status, receiptUrl, invoiceUrl } = topUp;
  const waits = status === 'open';
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
      <p className="min-w-0 flex-1 basis-64">{said(topUp)}</p>
      {waits && topUp.url ? (
        <a href={topUp.url} className="font-medium underline underline-offset-2">
          Back to the payment
        </a>
      ) : null}
      <Link href={billing} className="font-medium underline underline-offset-2">
        Dismiss
      </Link>
    </div>
  );
}

function said({ status, amount, test }: ShownTopUp): string {
  const much = showMoney(amount);
  switch (status) {
    case 'paid':
      return `${much} was added to your balance. ${test ? 'This was a test payment: no card was charged. ' : ''}Calls can use it now.`;
    case 'open':
      return `Waiting for confirmation of the ${much} payment. This page updates automatically; if you did not pay, you are not charged.`;
    case 'expired':
      return `The payment page for ${much} has expired; nothing was charged.`;
    case 'failed':
      return `The payment of ${much} failed; nothing was charged. Try another card.`;
    case 'refunded':
      return `The payment of ${much} was refunded.`;
  }
}
