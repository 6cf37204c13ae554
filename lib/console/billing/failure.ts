/**
 * Why a payment failed, in words: "insufficient_funds" → "The card was declined: insufficient funds. Try another card."
 * @param code of Stripe.
 */
export function failureText(code: string): string {
  if (code === 'authentication_required')
    return 'The bank asks the cardholder to confirm the payment, which was not done. Try again.';
  if (code === 'stopped') return 'Automatic top-ups were switched off before it was charged.';
  const why = code.replaceAll('_', ' ').replace(/^card declined$|^generic decline$|^declined$/, '');
  return `The card was declined${why ? `: ${why}` : ''}. Try another card.`;
}
