/** Pages that are shown without a session. */
export const publicPages: readonly string[] = ['/sign-in'];

/** First segments of the pages whose forms are sent without a session: signing in and up, resets, invitations. */
const accountPages = /^\/(?:sign-in|sign-up|forgot-password|reset|verify|invite)(?:\/|$)/;

const sessionCookies = ['next-auth.session-token', '__Secure-next-auth.session-token'];

/** @param cookies names of the cookies that a request carries; a large session stands in several, numbered. */
export function hasSession(cookies: readonly string[]): boolean {
  return cookies.some((name) =>
    sessionCookies.some((cookie) => name === cookie || name.startsWith(`${cookie}.`)),
  );
}

/** Whether a form may be sent to this page without a session. */
export function takesStrangersForms(path: string): boolean {
  return accountPages.test(path);
}

/** A console path with single slashes and none at its end: each page has one address. */
export function plainPath(path: string): string {
  return `/${path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')}`;
}
/**
 * Where to go after signing in: a path of this console, whatever the address bar was made to say.
 * @returns `fallback` for anything that leaves the origin or leads back to signing in.
 */
export function safeCallback(target: string | null | undefined, fallback = '/'): string {
  if (!target?.startsWith('/')) return fallback;
  const origin = 'http://console.invalid';
  if (!URL.canParse(target, origin)) return fallback;
  const url = new URL(target, origin);
  if (url.origin !== origin || url.pathname.startsWith('//')) return fallback;
  if (url.pathname === '/sign-in' || url.pathname.startsWith('/api/')) return fallback;
  return `${url.pathname}${url.search}${url.hash}`;
}
