import type { Operation } from '#lib/families/family';

/** Parameters that select fields, change framing, method or headers, or carry a credential. */
const hidden: ReadonlySet<string> = new Set(['fields', 'callback', 'access_token', 'oauth_token']);

/**
 * What of a query may travel upstream: this provider reads parameters that would take the usage out of
 * the answer, or out of our sight, and so what is charged. Every other byte stays as it was written. Of a
 * file its bytes may be asked for.
 */
export function contentQuery(query: string, operation: Pick<Operation, 'download'>): string {
  if (query === '' || query === 'alt=sse') return query;
  const kinds = operation.download ? /^(media|json)(;|$)/i : /^(sse|json)(;|$)/i;
  return query
    .split('&')
    .filter((part) => mayPass(part, kinds))
    .join('&');
}

function mayPass(part: string, kinds: RegExp): boolean {
  for (const [name, value] of new URLSearchParams(part)) {
    const plain = name.toLowerCase();
    // "$alt" is the same as "alt"; the other "$" names are the protocol's own switches.
    if (plain === 'alt' || plain === '$alt') return kinds.test(value);
    if (plain.startsWith('$') || hidden.has(plain)) return false;
  }
  return true;
}
