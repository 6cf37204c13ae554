/** Parameters that select fields, change framing, method or headers, or carry a credential. */
const hidden: ReadonlySet<string> = new Set(['fields', 'callback', 'access_token', 'oauth_token']);

/**
 * What of a query may travel upstream: this provider reads parameters that would take the usage out of
 * the answer, or out of our sight, and so what is charged. Every other byte stays as it was written.
 */
export function contentQuery(query: string): string {
  if (query === '' || query === 'alt=sse') return query;
  return query.split('&').filter(mayPass).join('&');
}

function mayPass(part: string): boolean {
  for (const [name, value] of new URLSearchParams(part)) {
    const plain = name.toLowerCase();
    // "$alt" is the same as "alt"; the other "$" names are the protocol's own switches.
    if (plain === 'alt' || plain === '$alt') return /^(sse|json)(;|$)/i.test(value);
    if (plain.startsWith('$') || hidden.has(plain)) return false;
  }
  return true;
}
