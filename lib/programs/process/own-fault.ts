const root = new URL('../../../', import.meta.url).href;

/**
 * Whether a rejection that nobody handled came out of the gateway's own code. Next leaves promises of
 * pages alone that it no longer needs, so that a rejection of a page says nothing about the process; one
 * of ours means that something was begun and nobody knows how it ended.
 */
export function isOwnFault(reason: unknown): boolean {
  const stack = reason instanceof Error ? (reason.stack ?? '') : '';
  const own = stack.includes(`${root}lib/`) || stack.includes(`${root}server.ts`);
  return own && !stack.includes('/.next/');
}
