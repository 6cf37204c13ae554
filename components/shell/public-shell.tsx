import Link from 'next/link';
import type { ReactNode } from 'react';
import { Wordmark } from '#components/brand';
import { LoadedKeepFocus } from '#components/shell/loaded-keep-focus';
import { PublicNav } from '#components/shell/public-nav';
import { buttonStyle } from '#components/ui/button';

interface PublicShellProps {
  signedIn: boolean;
  /** Whether there is a status page. */
  status: boolean;
  children: ReactNode;
}

/** The frame of the public pages. */
export function PublicShell({ signedIn, status, children }: PublicShellProps) {
  return (
    <>
      <LoadedKeepFocus />
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <header className="sticky top-0 z-30 border-b bg-sunken">
        <div className="mx-auto flex h-14 max-w-7xl items-center gap-2 px-4 sm:gap-4 sm:px-8">
          <Link
            href="/"
            prefetch={false}
            aria-label="Model Gateway"
            className="rounded-md max-sm:[&>span]:text-[0px]!"
          >
            <Wordmark />
          </Link>
          <PublicNav status={status} />
          <Link
            href={signedIn ? '/' : '/sign-in'}
            prefetch={false}
            className={buttonStyle({ tone: signedIn ? 'plain' : 'primary', size: 'small' })}
          >
            {signedIn ? 'Console' : 'Sign in'}
          </Link>
        </div>
      </header>
      <main id="content" tabIndex={-1} className="min-w-0 outline-none">
        <div className="mx-auto grid max-w-7xl gap-6 px-4 py-6 sm:px-8 sm:py-8">{children}</div>
      </main>
    </>
  );
}
