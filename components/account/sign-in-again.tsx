'use client';

/** URL of the sign-in page that returns to the current page. */
export function signInAddress(): string {
  const { pathname, search } = window.location;
  return `/sign-in?callbackUrl=${encodeURIComponent(pathname + search)}`;
}

/** A sign-in link beside a form whose session has ended; it opens in a new tab, so that no input is lost. */
export function SignInAgain() {
  return (
    <>
      {' '}
      <a
        href={signInAddress()}
        target="_blank"
        rel="noreferrer"
        className="font-medium underline underline-offset-2"
      >
        Sign in on a new tab
      </a>
      , then try again here.
    </>
  );
}
