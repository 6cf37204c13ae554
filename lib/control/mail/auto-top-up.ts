import type { Mail } from '#lib/control/mail/drain';
import { type Letter, writeLetter } from '#lib/control/mail/letter';

/** What happened and what to do, by why an automatic top-up was not made. */
const texts: Readonly<Record<string, { readonly what: string; readonly next: string }>> = {
  declined: {
    what: 'the card was declined',
    next: 'Save another card or ask your bank, then resume automatic top-ups on the billing page.',
  },
  authentication_required: {
    what: 'the bank asks the card holder to confirm the payment (3-D Secure)',
    next: 'Top up once by hand on the billing page, where you can confirm it, then resume automatic top-ups.',
  },
  dispute: {
    what: 'a payment was disputed',
    next: 'Nothing is charged again until you resume automatic top-ups on the billing page.',
  },
  no_card: {
    what: 'no card is saved that could be charged',
    next: 'Top up once with “Save the card”, then resume automatic top-ups on the billing page.',
  },
  unreachable: {
    what: 'the payment processor did not answer for hours',
    next: 'Nothing was charged. Resume automatic top-ups on the billing page.',
  },
  mismatch: {
    what: 'the payment did not match its order',
    next: 'The people who run this gateway look into it. Write to them before you resume automatic top-ups.',
  },
  month_cap: {
    what: 'the cap of this month is used up',
    next: 'They go on by themselves next month, or as soon as you raise the cap on the billing page.',
  },
};

/** Tells those who may pay why no automatic top-up was made. */
export function stoppedTopUpLetter(publicUrl: string, { recipient, facts }: Mail): Letter | null {
  const { slug, name, reason, detail } = facts;
  const text = texts[String(reason)];
  if (text === undefined) return null;
  const said = reason === 'declined' && typeof detail === 'string' ? ` (${detail.replaceAll('_', ' ')})` : '';
  return writeLetter({
    to: recipient,
    subject: `Automatic top-ups of ${String(name)} have stopped`,
    paragraphs: [
      `No automatic top-up of the workspace ${String(name)} was made: ${text.what}${said}.`,
      text.next,
      'Until then its calls are refused as soon as the balance is used up.',
    ],
    action: {
      label: 'Open the billing page',
      link: `${publicUrl}/${encodeURIComponent(String(slug))}/billing`,
    },
    notes: ['You get this mail because you are an owner, admin or billing member of the workspace.'],
  });
}
