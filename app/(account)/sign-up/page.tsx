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
      <AccountFrame title="Sign-up is closed" below={below}>
        <p className="text-muted leading-6">Ask your gateway administrator for an account.</p>
      </AccountFrame>
    );
  }
  const { creditNano, verification } = control.accounts;
  const credit = showMoney(formatUsd(creditNano));
  const given = verification ? `${credit} of credit once your address is verified.` : `${credit} of credit.`;
  return (
    <AccountFrame
      title="Create an account"
      lead={`You get your own workspace${creditNano > 0n ? `, with ${given}` : '.'}`}
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
