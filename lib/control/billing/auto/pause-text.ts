import type { PauseReason } from '#lib/control/billing/auto/pause';

const texts: Readonly<Record<PauseReason, string>> = {
  declined: 'The card was declined. Save another card or contact the bank, then resume.',
  authentication_required:
    'The bank requires the cardholder to confirm the payment. Top up once manually, if possible, then resume.',
  dispute: 'A payment was disputed. The card is not charged again until automatic top-ups are resumed.',
  no_card: 'There is no card to charge. Top up with “Save the card”, then resume.',
  unreachable:
    'Stripe did not respond for hours; nothing was charged. Resume when Stripe is available again.',
  mismatch: 'A payment did not match its order. Contact your gateway administrator before you resume.',
};

/** Why automatic top-ups are paused, and what to do: "The card was declined (insufficient funds). Save another …". */
export function pauseText({
  reason,
  detail,
}: {
  readonly reason: string;
  readonly detail: string | null;
}): string {
  const text = Object.entries(texts).find(([name]) => name === reason)?.[1] ?? 'Open Billing to see why.';
  if (reason !== 'declined' || detail === null) return text;
  return text.replace('declined.', `declined (${detail.replaceAll('_', ' ')}).`);
}
