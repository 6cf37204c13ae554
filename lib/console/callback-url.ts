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
