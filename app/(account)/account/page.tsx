import { ArrowLeft } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { Wordmark } from '#components/brand';
import { PageHead } from '#components/page-head';
import { LinkedAccounts } from '#components/profile/linked-accounts';
import { NameForm } from '#components/profile/name-form';
import { PasswordForm } from '#components/profile/password-form';
import { SessionList } from '#components/profile/session-list';
import { VerifyBanner } from '#components/profile/verify-banner';
import { Section } from '#components/section';
import { enabledProviders } from '#lib/console/account/other-accounts';
import { deviceOf, sessionRowOf } from '#lib/console/account/session-rows';
import { getConsoleHost } from '#lib/console/db';
import { readForPage } from '#lib/console/operation';
import { requireUser } from '#lib/console/session';
import { showDay } from '#lib/console/show/time';
import { readSort, sortRows } from '#lib/console/sort';
import { showAccount } from '#lib/control/operations/user/profile';
import { listSessions } from '#lib/control/operations/user/sessions';
import {
  changePasswordAction,
  endAllSessionsAction,
  endSessionAction,
  renameAction,
  requestVerificationAction,
  startConnectingAction,
  unlinkAction,
} from './actions';

export const metadata: Metadata = { title: 'Your account' };

interface AccountPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function AccountPage({ searchParams }: AccountPageProps) {
  await requireUser();
  const { connect, sort } = await searchParams;
  const { control, env } = getConsoleHost();
  const [account, sessions] = await Promise.all([
    readForPage(showAccount, '', {}),
    readForPage(listSessions, '', {}),
  ]);
  const nowMs = Date.now();
  const providers = enabledProviders(env.providers);
  const required = control.accounts?.verification ?? true;
  return (
    <div className="min-h-dvh">
      <header className="flex items-center justify-between gap-4 border-b px-4 py-3 sm:px-8">
        <Wordmark />
        <Link
          href="/"
          className="inline-flex items-center gap-1.5 rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-ink"
        >
          <ArrowLeft aria-hidden className="size-4" />
          Console
        </Link>
      </header>
      <main className="mx-auto grid max-w-2xl gap-6 px-4 py-8">
        <PageHead title="Your account">Signed in as {account.email}.</PageHead>
        {required && !account.verified ? (
          <VerifyBanner
            email={account.email}
            mails={env.mails === true}
            request={requestVerificationAction}
          />
        ) : null}
        <Section title="Profile" note={`Since ${showDay(Date.parse(account.createdAt), 'UTC')}`}>
          <NameForm
            email={account.email}
            name={account.name}
            verified={account.verified || (required ? false : null)}
            rename={renameAction}
          />
        </Section>
        <Section title="Password" note="Changing your password ends your other sessions">
          <PasswordForm hasPassword={account.hasPassword} change={changePasswordAction} />
        </Section>
        {providers.length > 0 || account.linked.length > 0 ? (
          <Section title="Other ways to sign in">
            <LinkedAccounts
              providers={providers}
              linked={account.linked.map(({ provider, email, since }) => ({
                provider,
                email,
                since: showDay(Date.parse(since), 'UTC'),
              }))}
              taken={connect === 'taken'}
              start={startConnectingAction}
              unlink={unlinkAction}
            />
          </Section>
        ) : null}
        <Section title="Sessions" note="Sessions expire after 7 days">
          <SessionList
            sessions={sortRows(sessions.data, readSort([sort].flat()[0]), {
              device: ({ userAgent }) => deviceOf(userAgent),
              seen: ({ seenAt }) => seenAt,
              since: ({ createdAt }) => createdAt,
            }).map((one) => sessionRowOf(one, nowMs))}
            end={endSessionAction}
            endAll={endAllSessionsAction}
          />
        </Section>
      </main>
    </div>
  );
}
