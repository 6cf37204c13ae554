import { alertLetter } from '#lib/control/mail/alert';
import { stoppedTopUpLetter } from '#lib/control/mail/auto-top-up';
import type { Mail } from '#lib/control/mail/drain';
import { type Letter, writeLetter } from '#lib/control/mail/letter';
import { lowBalanceLetter } from '#lib/control/mail/low-balance';
import { findOpenInvitation } from '#lib/control/operations/invitation/find';
import { mintInvitationLink } from '#lib/control/operations/invitation/link';
import { mintToken, type TokenPurpose } from '#lib/control/operations/user/token';
import type { MailKind } from '#lib/control/outbox/queue-mail';
import type { Db } from '#lib/platform/data/db';

/** What the texts of mail need. */
export interface ComposeHost {
  readonly db: Db;
  readonly keyPepper: string;
  /** Of the console, without a slash at the end. */
  readonly publicUrl: string;
}

type Compose = (host: ComposeHost, mail: Mail) => Promise<Letter | null>;

/** A kind of mail is one entry here and its word in `MailKind`. */
const kinds: Readonly<Record<MailKind, Compose>> = {
  verify: async (host, { recipient }) => {
    const user = await findUser(host, recipient);
    if (user === null || user.emailVerifiedAt !== null) return null;
    return writeLetter({
      to: recipient,
      subject: 'Verify your e-mail address',
      paragraphs: [
        `Somebody, most likely you, signed up with ${recipient}. Verify that this address is yours.`,
      ],
      action: { label: 'Verify this address', link: await linkOf(host, user.id, 'verify') },
      notes: [
        'The link works once, for 24 hours.',
        'It was not you? Then leave this mail alone: without the link nobody can use your address.',
      ],
    });
  },
  reset: async (host, { recipient }) => {
    const user = await findUser(host, recipient);
    if (user === null) return null;
    return writeLetter({
      to: recipient,
      subject: 'Set a new password',
      paragraphs: [`Somebody, most likely you, asked for a new password for ${recipient}.`],
      action: { label: 'Set a new password', link: await linkOf(host, user.id, 'reset') },
      notes: [
        'The link works once, for one hour. With the new password you are signed out everywhere else.',
        'It was not you? Then leave this mail alone: your password stays as it is.',
      ],
    });
  },
  'auto-top-up-stopped': async (host, mail) => stoppedTopUpLetter(host.publicUrl, mail),
  invitation: async (host, { recipient, facts }) => {
    const id = typeof facts.invitation === 'string' ? facts.invitation : '';
    const open = await findOpenInvitation(host.db, id);
    if (open === null) return null;
    const { workspace, role, inviter } = open;
    const link = await mintInvitationLink(sqlOf(host), host.keyPepper, id);
    return writeLetter({
      to: recipient,
      subject: `You are invited to ${workspace}`,
      paragraphs: [
        `${inviter ?? 'The people who run this gateway'} invited you to the workspace “${workspace}” as ${role}.`,
      ],
      action: { label: 'Accept the invitation', link: `${host.publicUrl}/invite?token=${link}` },
      notes: [
        `The link works once, for 7 days, and only with an account of ${recipient}; you can make one there.`,
        'You know nobody there? Then leave this mail alone.',
      ],
    });
  },
  alert: async (host, mail) => alertLetter(host.publicUrl, mail),
  'low-balance': async (host, mail) => lowBalanceLetter(host.publicUrl, mail),
};

/**
 * The letter of a mail, made when it is sent: so its link is in no table, and a request for an address without an
 * account costs whoever asks as much time as any other.
 * @returns null when there is nothing to send.
 * @throws Error for a kind of another version.
 */
export function composeMail(host: ComposeHost, mail: Mail): Promise<Letter | null> {
  const compose = isKind(mail.kind) ? kinds[mail.kind] : null;
  if (compose === null) throw new Error(`this version sends no mail of the kind "${mail.kind}"`);
  return compose(host, mail);
}

function isKind(word: string): word is MailKind {
  return Object.hasOwn(kinds, word);
}

function findUser({ db }: ComposeHost, email: string) {
  return db.prisma.user.findUnique({ where: { email }, select: { id: true, emailVerifiedAt: true } });
}

const pages: Readonly<Record<TokenPurpose, string>> = { verify: '/verify', reset: '/reset' };

async function linkOf(host: ComposeHost, userId: string, purpose: TokenPurpose): Promise<string> {
  const token = await mintToken(sqlOf(host), host.keyPepper, { userId, purpose });
  return `${host.publicUrl}${pages[purpose]}?token=${token}`;
}

function sqlOf({ db }: ComposeHost) {
  return { query: (text: string, values: unknown[]) => db.pool.query(text, values) };
}
