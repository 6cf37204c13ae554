import type { Metadata } from 'next';
import { ForgotForm } from '#components/account/forgot-form';
import { AccountFrame } from '#components/account/frame';
import { TextLink } from '#components/account/text-link';
import { getConsoleHost } from '#lib/console/db';
import { requestResetAction } from '../actions';

export const metadata: Metadata = { title: 'Forgot your password' };

export default function ForgotPasswordPage() {
  const mails = getConsoleHost().env.mails === true;
  return (
    <AccountFrame
      title="Forgot your password?"
      lead={
        mails
          ? 'We send you a link with which you set a new one.'
          : 'This gateway sends no mail: the link for a new password is printed in the server’s log. Ask the people who run it.'
      }
      below={<TextLink href="/sign-in">Back to sign-in</TextLink>}
    >
      <ForgotForm request={requestResetAction} mails={mails} />
    </AccountFrame>
  );
}
