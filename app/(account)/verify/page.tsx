import type { Metadata } from 'next';
import { AccountFrame } from '#components/account/frame';
import { VerifyForm } from '#components/account/verify-form';
import { verifyAction } from '../actions';

export const metadata: Metadata = { title: 'Verify your address', referrer: 'no-referrer' };

interface VerifyPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function VerifyPage({ searchParams }: VerifyPageProps) {
  const { token } = await searchParams;
  return (
    <AccountFrame
      title="Verify your address"
      lead="Confirm that this address is yours. If you did not sign up, close this page."
    >
      <VerifyForm token={typeof token === 'string' ? token.slice(0, 200) : ''} verify={verifyAction} />
    </AccountFrame>
  );
}
