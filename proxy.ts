import { type NextRequest, NextResponse } from 'next/server';
import { isDevelopment } from '#lib/env';

const sessionCookies = ['next-auth.session-token', '__Secure-next-auth.session-token'];
const publicPaths = ['/sign-in'];

/** Scripts run only with this request's nonce; styles may be inline, as menus and toasts place themselves. */
function contentSecurityPolicy(nonce: string): string {
  const development = isDevelopment() ? " 'unsafe-eval'" : '';
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Console pages only: a nonce for the content security policy, the page's own address for the way back
 * from the sign-in page, and an early redirect for whoever has no session cookie at all. It authorises
 * nothing: every page and action does that by itself.
 */
export function proxy(request: NextRequest): NextResponse {
  const { pathname, search } = request.nextUrl;
  const signedIn = request.cookies
    .getAll()
    .some(({ name }) => sessionCookies.some((cookie) => name === cookie || name.startsWith(`${cookie}.`)));
  // An action answers by itself that the session has ended; redirected, its page could only fail.
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (!signedIn && reads && !publicPaths.includes(pathname)) {
    const target = request.nextUrl.clone();
    target.pathname = '/sign-in';
    target.search = pathname === '/' ? '' : `?callbackUrl=${encodeURIComponent(pathname + search)}`;
    return NextResponse.redirect(target);
  }
  const nonce = Buffer.from(crypto.randomUUID()).toString('base64');
  const policy = contentSecurityPolicy(nonce);
  const headers = new Headers(request.headers);
  headers.set('x-nonce', nonce);
  headers.set('x-console-path', pathname + search);
  headers.set('Content-Security-Policy', policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set('Content-Security-Policy', policy);
  response.headers.set('Cache-Control', 'private, no-store');
  return response;
}

// A matcher that covered the gateway's paths would cut their bodies at 10 MiB.
export const config = {
  matcher: ['/((?!v1/|v1$|v1beta/|v1beta$|v1alpha/|v1alpha$|api/|_next/|icon\\.svg$|favicon\\.ico$).*)'],
};
