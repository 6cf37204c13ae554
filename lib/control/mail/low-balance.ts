import type { Mail } from '#lib/control/mail/drain';
import { type Letter, writeLetter } from '#lib/control/mail/letter';
import { showMoney, showMoneyDown } from '#lib/core/show-money';

/** Says to members who may pay that the workspace's funds have fallen below its threshold. */
export function lowBalanceLetter(publicUrl: string, { recipient, facts }: Mail): Letter {
  const { slug, name, threshold, funds } = facts;
  const left = String(funds);
  const empty = left === '0' || left.startsWith('-');
  return writeLetter({
    to: recipient,
    subject: empty ? `${String(name)} is out of funds` : `${String(name)} is low on funds`,
    paragraphs: [
      `The funds of the workspace ${String(name)} have fallen below ${showMoney(String(threshold))}, to ${showMoneyDown(left)}.`,
      empty
        ? 'Its calls are refused until you add funds.'
        : 'Once they are used up, its calls are refused until you add funds.',
    ],
    action: { label: 'Add funds', link: `${publicUrl}/${encodeURIComponent(String(slug))}/billing` },
    notes: [
      'This email is sent once each time funds fall below the threshold, which you can change or remove on the billing page.',
      'You received this email because you are an owner, admin or billing member of the workspace.',
    ],
  });
}
