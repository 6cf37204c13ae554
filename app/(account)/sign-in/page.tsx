import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { AccountFrame } from '#components/account/frame';
import { OtherAccounts } from '#components/account/other-accounts';
import { SignInForm } from '#components/account/sign-in-form';
import { TextLink } from '#components/account/text-link';
import { enabledProviders } from '#lib/console/account/other-accounts';
import { safeCallback } from '#lib/console/addresses';
import { getConsoleHost } from '#lib/console/db';
import { findUser } from '#lib/console/session';
import { rememberZoneAction } from '../actions';

export const metadata: Metadata = { title: 'Sign in' };

interface SignInPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function SignInPage({ searchParams }: SignInPageProps) {
  const { callbackUrl, error } = await searchParams;
  const target = safeCallback(typeof callbackUrl === 'string' ? callbackUrl : null);
  if (await findUser()) redirect(target);
  const { control, env } = getConsoleHost();
  return (
    <AccountFrame
      title="Sign in to the console"
      lead="Manage your keys, call logs and spend."
      below={
        control.accounts?.signUp ? (
          <>
            New here? <TextLink href="/sign-up">Create an account</TextLink>
          </>
        ) : null
      }
    >
      <OtherAccounts
        providers={enabledProviders(env.providers)}
        target={target}
        rememberZone={rememberZoneAction}
      />
      <SignInForm target={target} error={typeof error === 'string' ? error : null} />
      <p className="mt-4 text-center text-[0.8125rem]">
        <TextLink href="/forgot-password">Forgot your password?</TextLink>
      </p>
    </AccountFrame>
  );
}
