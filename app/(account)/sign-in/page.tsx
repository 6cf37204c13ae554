import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { SignInForm } from '#components/account/sign-in-form';
import { Wordmark } from '#components/brand';
import { safeCallback } from '#lib/console/addresses';
import { findUser } from '#lib/console/session';

export const metadata: Metadata = { title: 'Sign in' };

interface SignInPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function SignInPage({ searchParams }: SignInPageProps) {
  const { callbackUrl } = await searchParams;
  const target = safeCallback(typeof callbackUrl === 'string' ? callbackUrl : null);
  if (await findUser()) redirect(target);
  return (
    <main className="grid min-h-dvh content-center justify-items-center gap-6 p-4">
      <Wordmark />
      <section className="w-full max-w-sm rounded-xl border bg-surface p-6 shadow-xs sm:p-8">
        <h1 className="font-semibold text-lg tracking-tight">Sign in to the console</h1>
        <p className="mt-1 mb-6 text-muted leading-5">Keys, call logs and spend of your workspaces.</p>
        <SignInForm target={target} />
      </section>
    </main>
  );
}
