import { alertLetter } from '#lib/control/mail/alert';
import { stoppedTopUpLetter } from '#lib/control/mail/auto-top-up';
import type { Mail } from '#lib/control/mail/drain';
import { type Letter, writeLetter } from '#lib/control/mail/letter';
import { lowBalanceLetter } from '#lib/control/mail/low-balance';
import { viewLetter } from '#lib/control/mail/view';
import { findOpenInvitation } from '#lib/control/operations/invitation/find';
import { mintInvitationLink } from '#lib/control/operations/invitation/link';
import { mintToken, type TokenPurpose } from '#lib/control/operations/user/token';
import type { MailKind } from '#lib/control/outbox/queue-mail';
import type { Db } from '#lib/platform/data/db';

/** What writing an email needs. */
export interface ComposeHost {
  readonly db: Db;
  readonly keyPepper: string;
  /** Of the console, without a slash at the end. */
  readonly publicUrl: string;
}

type Compose = (host: ComposeHost, mail: Mail) => Promise<Letter | null>;

/** Each kind of mail has an entry here and its name in `MailKind`. */
const kinds: Readonly<Record<MailKind, Compose>> = {
  verify: async (host, { recipient }) => {
    const user = await findUser(host, recipient);
    if (user === null || user.emailVerifiedAt !== null) return null;
    return writeLetter({
      to: recipient,
      subject: 'Verify your email address',
      paragraphs: [`Someone signed up with ${recipient}. If it was you, verify that this address is yours.`],
      action: { label: 'Verify this address', link: await linkOf(host, user.id, 'verify') },
      notes: [
        'This link works once and expires in 24 hours.',
        "If this wasn't you, you can ignore this email: your address cannot be used without this link.",
      ],
    });
  },
  reset: async (host, { recipient }) => {
    const user = await findUser(host, recipient);
    if (user === null) return null;
    return writeLetter({
      to: recipient,
      subject: 'Set a new password',
      paragraphs: [`We received a request to set a new password for ${recipient}.`],
      action: { label: 'Set a new password', link: await linkOf(host, user.id, 'reset') },
      notes: [
        'This link works once and expires in one hour. Setting a new password signs you out everywhere else.',
        "If this wasn't you, you can ignore this email: your password stays the same.",
      ],
    });
  },
  'auto-top-up-stopped': async (host, mail) => stoppedTopUpLetter(host.publicUrl, mail),
  invitation: async (host, { recipient, facts }) => {
    const id = typeof facts.invitation === 'string' ? facts.invitation : '';
    const open = await findOpenInvitation(host.db, id);
    if (open === null) return null;
    const { workspace, role, inviter } = open;
    const minted = { invitationId: id, kind: 'mail' } as const;
    const link = await mintInvitationLink(host.db.pool, host.keyPepper, minted);
    return writeLetter({
      to: recipient,
      subject: `You have been invited to ${workspace}`,
      paragraphs: [
        `${inviter ?? 'The operator of this gateway'} invited you to join the workspace “${workspace}” as ${role}.`,
      ],
      action: { label: 'Accept invitation', link: `${host.publicUrl}/invite?token=${link}` },
      notes: [
        `This link works once, expires in 7 days, and works only for an account with the address ${recipient}. If you do not have one, you can create it after opening the link.`,
        'If you were not expecting this invitation, you can ignore this email.',
      ],
    });
  },
  alert: async (host, mail) => alertLetter(host.publicUrl, mail),
  view: viewLetter,
  'low-balance': async (host, mail) => lowBalanceLetter(host.publicUrl, mail),
};

/**
 * Writes the letter of a mail when it is sent, so that its link is in no table, and a request for an address without an
 * account takes the caller as long as any other.
 * @returns null if there is nothing to send.
 * @throws Error for a kind that this version does not know.
 */
export function composeMail(host: ComposeHost, mail: Mail): Promise<Letter | null> {
  const compose = isKind(mail.kind) ? kinds[mail.kind] : null;
  if (compose === null)
    throw new Error(`this version of the gateway cannot send emails of the kind "${mail.kind}"`);
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
  const token = await mintToken(host.db.pool, host.keyPepper, { userId, purpose });
  return `${host.publicUrl}${pages[purpose]}?token=${token}`;
}
