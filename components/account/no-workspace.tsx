import Link from 'next/link';
import { SignOutButton } from '#components/account/sign-out-button';
import { Wordmark } from '#components/brand';
import { buttonStyle } from '#components/ui/button';

/** Shown to a user who is not in any workspace yet. */
export function NoWorkspace({ email }: { email: string }) {
  return (
    <main className="mx-auto grid min-h-dvh max-w-md content-center justify-items-start gap-4 p-6">
      <Wordmark />
      <h1 className="font-semibold text-xl">You are not in a workspace yet</h1>
      <p className="text-muted leading-6">
        You are signed in as <strong className="text-ink">{email}</strong>. Ask an owner or admin of a
        workspace to invite this address, or create your own.
      </p>
      <Link href="/new" className={buttonStyle({ tone: 'primary' })}>
        New workspace
      </Link>
      <SignOutButton />
    </main>
  );
}
