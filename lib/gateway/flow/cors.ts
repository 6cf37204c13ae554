import { match } from '#lib/core/families/match';
import type { Arrival, HeaderList } from '#lib/gateway/flow/lane';

/** Headers of our answers that a page may read: those that its client quotes or uses to decide when to retry. */
const exposed = [
  'x-request-id',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-translated',
  'x-translation-loss',
  'x-token-count',
  'x-goog-upload-url',
  'x-goog-upload-status',
].join(', ');

/** How long a browser keeps a preflight's answer, s. */
const MAX_AGE_SECONDS = 7_200;
/** Names of headers between commas. */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

type Head = Pick<Arrival, 'method' | 'target' | 'headers'>;

/**
 * Headers by which a browser lets a page of a listed origin read an answer (contract: request/cors): only on the
 * addresses of calls, never under `/api` or on pages. Empty if no origin is listed.
 */
export function corsHeaders(origins: ReadonlySet<string>, head: Head): HeaderList {
  if (origins.size === 0 || !isOfCalls(head)) return [];
  const { origin } = head.headers;
  if (origin === undefined || !origins.has(origin)) return ['vary', 'origin'];
  return ['access-control-allow-origin', origin, 'access-control-expose-headers', exposed, 'vary', 'origin'];
}

/**
 * Further headers for a browser that asks before it sends a page's request; null: this is not such a question, or not
 * from a listed origin.
 */
export function preflightHeaders(origins: ReadonlySet<string>, head: Head): HeaderList | null {
  const { method, headers } = head;
  const asks = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (!asks || !origins.has(headers.origin ?? '') || !isOfCalls(head)) return null;
  const wanted = headers['access-control-request-headers']?.trim() ?? '';
  return [
    'access-control-allow-methods',
    'GET, POST, PATCH, DELETE',
    ...(headerNames.test(wanted) ? ['access-control-allow-headers', wanted] : []),
    'access-control-max-age',
    String(MAX_AGE_SECONDS),
  ];
}

/** The versioned prefixes, and operations without their version. */
function isOfCalls({ method, target }: Head): boolean {
  if (/^\/+v1(?:beta|alpha)?(?:[/?]|$)/.test(target)) return true;
  const matched = match(method, target.split('?', 1)[0] ?? '');
  return !('code' in matched) || matched.code === 'method_not_allowed';
}
