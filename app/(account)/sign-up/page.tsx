import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { AccountFrame } from '#components/account/frame';
import { OtherAccounts } from '#components/account/other-accounts';
import { SignUpForm } from '#components/account/sign-up-form';
import { TextLink } from '#components/account/text-link';
import { enabledProviders } from '#lib/console/account/other-accounts';
import { getConsoleHost } from '#lib/console/db';
import { findUser } from '#lib/console/session';
import { formatUsd } from '#lib/core/money';
import { showMoney } from '#lib/core/show-money';
import { rememberZoneAction, signUpAction } from '../actions';

export const metadata: Metadata = { title: 'Create an account' };

export default async function SignUpPage() {
  if (await findUser()) redirect('/');
  const { control, env } = getConsoleHost();
  const below = (
    <>
      Already have an account? <TextLink href="/sign-in">Sign in</TextLink>
    </>
  );
  if (!control.accounts?.signUp) {
    return (
      <AccountFrame title="Signing up is closed" below={below}>
        <p className="text-muted leading-6">
          Accounts on this gateway are made by the people who run it. Ask them for one.
        </p>
      </AccountFrame>
    );
  }
  const { creditNano, verification } = control.accounts;
  const credit = showMoney(formatUsd(creditNano));
  const given = verification
    ? `${credit} to begin with, once your address is verified.`
    : `${credit} to begin with.`;
  return (
    <AccountFrame
      title="Create an account"
      lead={`You get a workspace of your own${creditNano > 0n ? `, with ${given}` : '.'}`}
      below={below}
    >
      <OtherAccounts
        providers={enabledProviders(env.providers)}
        target="/"
        rememberZone={rememberZoneAction}
      />
      <SignUpForm signUp={signUpAction} />
    </AccountFrame>
  );
}
