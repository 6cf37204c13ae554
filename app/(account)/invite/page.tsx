import type { Metadata } from 'next';
import Link from 'next/link';
import { AccountFrame } from '#components/account/frame';
import { SignOutButton } from '#components/account/sign-out-button';
import { AcceptForm } from '#components/members/invite/accept-form';
import { JoinForm } from '#components/members/invite/join-form';
import { buttonStyle } from '#components/ui/button';
import { controlHost, requestAddress } from '#lib/console/actor';
import { findUser } from '#lib/console/session';
import { showInvitationByLink } from '#lib/control/operations/invitation/accept';
import { ControlRefused } from '#lib/control/operations/refusal';
import { ask } from '#lib/control/operations/run';
import { acceptAction, joinAction } from './actions';

export const metadata: Metadata = { title: 'Invitation', referrer: 'no-referrer' };

interface InvitePageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** Opened from an email: anyone with the link can see what it is for. */
export default async function InvitePage({ searchParams }: InvitePageProps) {
  const given = (await searchParams).token;
  const token = typeof given === 'string' ? given.slice(0, 200) : '';
  const [user, invitation] = await Promise.all([findUser(), findInvitation(token)]);
  if (typeof invitation === 'string') {
    return (
      <AccountFrame title="This invitation cannot be used">
        <p className="text-muted leading-6">{invitation}</p>
        <Link href="/" className={buttonStyle({ className: 'mt-4' })}>
          Go to the console
        </Link>
      </AccountFrame>
    );
  }
  const { email, workspace, role, inviter, account } = invitation;
  const lead = (
    <span className="[overflow-wrap:anywhere]">
      {inviter ?? 'Your gateway administrator'} invited <strong className="text-ink">{email}</strong> to the
      workspace <strong className="text-ink">{workspace}</strong> as {role}.
    </span>
  );
  const back = `/sign-in?callbackUrl=${encodeURIComponent(`/invite?token=${token}`)}`;
  return (
    <AccountFrame title={`Join ${workspace}`} lead={lead}>
      {user === null && account ? (
        <div className="grid gap-3">
          <p className="text-muted leading-6">
            This address already has an account. Sign in to accept the invitation.
          </p>
          <Link href={back} className={buttonStyle({ tone: 'primary' })}>
            Sign in
          </Link>
        </div>
      ) : null}
      {user === null && !account ? <JoinForm token={token} email={email} join={joinAction} /> : null}
      {user?.email === email ? <AcceptForm token={token} email={email} accept={acceptAction} /> : null}
      {user && user.email !== email ? (
        <div className="grid gap-3">
          <p className="text-muted leading-6 [overflow-wrap:anywhere]">
            You are signed in as <strong className="text-ink">{user.email}</strong>, and this invitation is
            for {email}. Sign out, then open the link again.
          </p>
          <SignOutButton />
        </div>
      ) : null}
    </AccountFrame>
  );
}

/** The invitation; a sentence if it cannot be used. */
async function findInvitation(token: string) {
  const actor = { kind: 'anonymous', address: await requestAddress() } as const;
  try {
    return await ask(controlHost(), showInvitationByLink, { actor, input: { token: token || '-' } });
  } catch (error) {
    if (!(error instanceof ControlRefused)) throw error;
    return `${error.text.charAt(0).toUpperCase()}${error.text.slice(1)}.`;
  }
}
