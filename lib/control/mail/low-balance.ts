import type { Mail } from '#lib/control/mail/drain';
import { type Letter, writeLetter } from '#lib/control/mail/letter';
import { showMoney } from '#lib/core/show-money';

/** Tells those who may pay that the funds have fallen below the threshold that the workspace has set. */
export function lowBalanceLetter(publicUrl: string, { recipient, facts }: Mail): Letter {
  const { slug, name, threshold, funds } = facts;
  const left = String(funds);
  const empty = left === '0' || left.startsWith('-');
  return writeLetter({
    to: recipient,
    subject: empty ? `${String(name)} has no funds left` : `The balance of ${String(name)} is low`,
    paragraphs: [
      `The funds of the workspace ${String(name)} have fallen below ${showMoney(String(threshold))}: ${showMoney(left)} when this was noticed.`,
      empty
        ? 'Its calls are refused until funds are added.'
        : 'When they are used up, its calls are refused until funds are added.',
    ],
    action: { label: 'Add funds', link: `${publicUrl}/${encodeURIComponent(String(slug))}/billing` },
    notes: [
      'You get one such mail each time the threshold is crossed. It can be changed or removed on the same page.',
      'You get it because you are an owner, admin or billing member of the workspace.',
    ],
  });
}
