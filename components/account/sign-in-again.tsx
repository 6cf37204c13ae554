'use client';

/** The sign-in page, and from there back to the page that is open. */
export function signInAddress(): string {
  const { pathname, search } = window.location;
  return `/sign-in?callbackUrl=${encodeURIComponent(pathname + search)}`;
}

/** The way on from a form whose session has ended: beside it, so that nothing typed is lost. */
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
