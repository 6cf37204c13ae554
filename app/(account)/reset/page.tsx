import type { Metadata } from 'next';
import { AccountFrame } from '#components/account/frame';
import { ResetForm } from '#components/account/reset-form';
import { TextLink } from '#components/account/text-link';
import { resetAction } from '../actions';

export const metadata: Metadata = { title: 'Set a new password', referrer: 'no-referrer' };

interface ResetPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ResetPage({ searchParams }: ResetPageProps) {
  const { token } = await searchParams;
  return (
    <AccountFrame
      title="Set a new password"
      lead="This signs you out everywhere."
      below={<TextLink href="/sign-in">Back to sign-in</TextLink>}
    >
      <ResetForm token={typeof token === 'string' ? token.slice(0, 200) : ''} reset={resetAction} />
    </AccountFrame>
  );
}
