import { type NextRequest, NextResponse } from 'next/server';
import { hasSession, isFromElsewhere, isPublicPage, plainPath } from '#lib/console/addresses';
import { isGreeting } from '#lib/gateway/flow/greeting';
import { isDevelopment } from '#lib/platform/env/env';
import { isForGateway, routedTarget } from '#lib/programs/process/dispatch';

/** Scripts run only with this request's nonce; styles may be inline, as menus and toasts place themselves. */
function contentSecurityPolicy(nonce: string): string {
  const development = isDevelopment() ? " 'unsafe-eval'" : '';
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    // Videos that the playground has fetched.
    "media-src 'self' blob:",
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
 * nothing: every page and action does that by itself. On a host that runs only Next it also hands calls
 * without a version to the gateway's routes, as server.ts does elsewhere.
 */
export function proxy(request: NextRequest): NextResponse {
  const { pathname, search, origin } = request.nextUrl;
  if (isGreeting(request.method, pathname)) return new NextResponse(null);
  const head = {
    method: request.method,
    url: pathname + search,
    headers: Object.fromEntries(request.headers),
  };
  if (isForGateway(head)) {
    return NextResponse.rewrite(new URL(routedTarget(head) ?? `/v1${pathname}${search}`, origin));
  }
  // An action answers by itself that the session has ended; redirected, its page could only fail.
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (!reads && isFromElsewhere(request.headers)) {
    const said = 'Another site sent this form; nothing was changed. Open the console and do it there.';
    return new NextResponse(said, { status: 403 });
  }
  const plain = plainPath(pathname);
  if (reads && plain !== pathname) return NextResponse.redirect(new URL(plain + search, origin), 308);
  const signedIn = hasSession(request.cookies.getAll().map(({ name }) => name));
  if (!signedIn && reads && !isPublicPage(pathname)) {
    const back = pathname === '/' ? '' : `?callbackUrl=${encodeURIComponent(pathname + search)}`;
    return NextResponse.redirect(new URL(`/sign-in${back}`, origin));
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

// A matcher that covered the gateway's paths would cut their bodies at 10 MiB; files of public/ are everybody's.
export const config = {
  matcher: [
    '/((?!v1/|v1$|v1beta/|v1beta$|v1alpha/|v1alpha$|api/|_next/|icon\\.svg$|favicon\\.ico$|robots\\.txt$|logo\\.svg$).*)',
  ],
};
