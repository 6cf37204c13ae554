/** Pages that are shown without a session (contract: operations/console-addresses). */
const publicPages: readonly string[] = [
  '/sign-in',
  '/sign-up',
  '/forgot-password',
  '/reset',
  '/verify',
  '/invite',
  '/welcome',
  '/status',
];
/** Those that everybody may read, with all below them. */
const publicTrees = ['/models', '/docs'];

/** Whether a page is shown without a session. @param path without slashes at its end. */
export function isPublicPage(path: string): boolean {
  return (
    publicPages.includes(path) || publicTrees.some((tree) => path === tree || path.startsWith(`${tree}/`))
  );
}

/** First segments of the pages whose forms are sent without a session: signing in and up, resets, invitations, the first operator. */
const accountPages = /^\/(?:sign-in|sign-up|forgot-password|reset|verify|invite|welcome)(?:\/|$)/;

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

/**
 * The address that next-auth leads to after signing in or out.
 * @param target what a form, a query or a cookie asked for: an address of this console or a path; may be anything.
 * @param origin the console's own origin.
 * @returns an address of the console, its home where `target` leads anywhere else.
 */
export function landingAddress(target: unknown, origin: string): string {
  const text = typeof target === 'string' ? target : '';
  const own = text === origin || text.startsWith(`${origin}/`);
  return origin + safeCallback(own ? text.slice(origin.length) : text);
}

/**
 * Whether next-auth takes a text for an address to lead to. It answers 500 to a query or cookie that holds
 * another one; whether it leads there is for `landingAddress` to decide.
 */
export function isWebAddress(text: string): boolean {
  const url = URL.parse(text, text.startsWith('/') ? 'http://console.invalid' : undefined);
  return url !== null && /^https?:$/.test(url.protocol);
}

/**
 * Whether a browser says that another site's page sent a request (contract: control-plane/other-sites). Next compares
 * Origin and Host of actions too; this also knows sites that share our host name, and answers before anything is read.
 * What says neither is no browser's page, and carries no cookie of one.
 */
export function isFromElsewhere(headers: Pick<Headers, 'get'>): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') return true;
  const origin = headers.get('origin');
  if (origin === null) return false;
  return URL.parse(origin)?.host !== (headers.get('x-forwarded-host') ?? headers.get('host'));
}
