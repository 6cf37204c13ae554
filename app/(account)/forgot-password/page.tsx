import type { Metadata } from 'next';
import { ForgotForm } from '#components/account/forgot-form';
import { AccountFrame } from '#components/account/frame';
import { TextLink } from '#components/account/text-link';
import { getConsoleHost } from '#lib/console/db';
import { requestResetAction } from '../actions';

export const metadata: Metadata = { title: 'Reset your password' };

export default function ForgotPasswordPage() {
  const mails = getConsoleHost().env.mails === true;
  return (
    <AccountFrame
      title="Reset your password"
      lead={
        mails
          ? 'Enter your email address and we’ll send you a link to set a new password.'
          : 'This gateway does not send email. Your link is printed in the server log; ask your gateway administrator for it.'
      }
      below={<TextLink href="/sign-in">Back to sign-in</TextLink>}
    >
      <ForgotForm request={requestResetAction} mails={mails} />
    </AccountFrame>
  );
}
