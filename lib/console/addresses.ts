/** Pages shown without a session (contract: operations/console-addresses). */
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
/** Public pages, with everything below them. */
const publicTrees = ['/models', '/docs'];

/** Whether a page is shown without a session. @param path without trailing slashes. */
export function isPublicPage(path: string): boolean {
  return (
    publicPages.includes(path) || publicTrees.some((tree) => path === tree || path.startsWith(`${tree}/`))
  );
}

/**
 * First segments of the pages whose forms are sent without a session: signing in and up, resets, invitations,
 * the first operator.
 */
const accountPages = /^\/(?:sign-in|sign-up|forgot-password|reset|verify|invite|welcome)(?:\/|$)/;

const sessionCookies = ['next-auth.session-token', '__Secure-next-auth.session-token'];

/** @param cookies names of a request's cookies; a large session is split into several, with numbers. */
export function hasSession(cookies: readonly string[]): boolean {
  return cookies.some((name) =>
    sessionCookies.some((cookie) => name === cookie || name.startsWith(`${cookie}.`)),
  );
}

/** Whether a form may be sent to this page without a session. */
export function takesFormsWithoutSession(path: string): boolean {
  return accountPages.test(path);
}

/** A console path with single slashes and no trailing one: each page has one URL. */
export function plainPath(path: string): string {
  return `/${path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')}`;
}
/**
 * Where to go after signing in: a path of this console, whatever the URL says.
 * @returns `fallback` for anything that leaves the origin or points back to signing in.
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
 * Where next-auth redirects after signing in or out.
 * @param target the URL or path that a form, a query or a cookie asked for; untrusted.
 * @param origin the console's own origin.
 * @returns a URL of the console; its home page if `target` points anywhere else.
 */
export function landingAddress(target: unknown, origin: string): string {
  const text = typeof target === 'string' ? target : '';
  const own = text === origin || text.startsWith(`${origin}/`);
  return origin + safeCallback(own ? text.slice(origin.length) : text);
}

/**
 * Whether next-auth accepts a string as the target of a redirect. It answers 500 to a query or cookie with
 * any other; `landingAddress` decides whether it redirects there.
 */
export function isWebAddress(text: string): boolean {
  const url = URL.parse(text, text.startsWith('/') ? 'http://console.invalid' : undefined);
  return url !== null && /^https?:$/.test(url.protocol);
}

/**
 * Whether the browser says that another site's page sent a request (contract: control-plane/other-sites).
 * Next also compares Origin and Host of actions; this also detects sites that share our host name, and
 * answers before anything is read. A request with neither header is not from a browser's page, and has none
 * of its cookies.
 */
export function isFromElsewhere(headers: Pick<Headers, 'get'>): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') return true;
  const origin = headers.get('origin');
  if (origin === null) return false;
  return URL.parse(origin)?.host !== (headers.get('x-forwarded-host') ?? headers.get('host'));
}
