import type { Mail } from '#lib/control/mail/drain';
import { type Letter, writeLetter } from '#lib/control/mail/letter';

/** What happened and what to do, by the reason why an automatic top-up was not made. */
const texts: Readonly<Record<string, { readonly what: string; readonly next: string }>> = {
  declined: {
    what: 'the card was declined',
    next: 'Save another card or contact your bank, then resume automatic top-ups on the billing page.',
  },
  authentication_required: {
    what: 'the bank asked for the payment to be confirmed (3-D Secure)',
    next: 'Top up manually on the billing page, where you can confirm the payment, then resume automatic top-ups.',
  },
  dispute: {
    what: 'a payment was disputed',
    next: 'The card is not charged again until you resume automatic top-ups on the billing page.',
  },
  no_card: {
    what: 'there is no saved card to charge',
    next: 'Top up once with “Save the card”, then resume automatic top-ups on the billing page.',
  },
  unreachable: {
    what: 'the payment processor did not respond for several hours',
    next: 'You were not charged. Resume automatic top-ups on the billing page.',
  },
  mismatch: {
    what: 'the payment did not match its order',
    next: 'The operator of this gateway is looking into it. Contact them before you resume automatic top-ups.',
  },
  month_cap: {
    what: "this month's cap has been reached",
    next: 'Automatic top-ups continue next month, or as soon as you raise the cap on the billing page.',
  },
};

/** Says to members who may pay why no automatic top-up was made. */
export function stoppedTopUpLetter(publicUrl: string, { recipient, facts }: Mail): Letter | null {
  const { slug, name, reason, detail } = facts;
  const text = texts[String(reason)];
  if (text === undefined) return null;
  const said = reason === 'declined' && typeof detail === 'string' ? ` (${detail.replaceAll('_', ' ')})` : '';
  return writeLetter({
    to: recipient,
    subject: `Automatic top-ups for ${String(name)} have stopped`,
    paragraphs: [
      `The workspace ${String(name)} was not topped up automatically: ${text.what}${said}.`,
      text.next,
      'Until then, its calls are refused once the balance is used up.',
    ],
    action: {
      label: 'Open the billing page',
      link: `${publicUrl}/${encodeURIComponent(String(slug))}/billing`,
    },
    notes: ['You received this email because you are an owner, admin or billing member of the workspace.'],
  });
}
