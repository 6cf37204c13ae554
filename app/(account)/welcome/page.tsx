import type { Metadata } from 'next';
import { AccountFrame } from '#components/account/frame';
import { OperatorForm } from '#components/account/operator-form';
import { TextLink } from '#components/account/text-link';
import { firstOperatorAction } from '../actions';

export const metadata: Metadata = { title: 'Create the first operator', referrer: 'no-referrer' };

export default function WelcomePage() {
  return (
    <AccountFrame
      title="Create the first operator"
      lead="Operators manage the gateway’s providers, prices and users. You also get your own workspace."
      below={
        <>
          Already have an account? <TextLink href="/sign-in">Sign in</TextLink>
        </>
      }
    >
      <OperatorForm create={firstOperatorAction} />
    </AccountFrame>
  );
}
