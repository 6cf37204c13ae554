import { hasSession, takesFormsWithoutSession } from '#lib/console/addresses';
import { match, withVersion } from '#lib/core/families/match';
import { withoutEmptySegments } from '#lib/core/families/matching/spellings';
import { isWellFormedKey } from '#lib/platform/secrets';

/** The head of a request, before anything of its body is read. */
export interface RequestHead {
  readonly method?: string | undefined;
  /** Raw request target. */
  readonly url?: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The console's own routes under `/api`; everything else there is answered 404 by the gateway. */
const consoleRoutes = /^\/api\/(?:auth\/|v1(?:\/|$)|(?:health|metrics|stripe\/webhook)$)/;
/** What Next's pages send to its own tools in development. */
const developmentTools = /^\/__next/;
const formTypes = /^\s*(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/i;
const credentialHeaders = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'] as const;

/**
 * Whether the gateway answers a request rather than the console
 * (contract: request/addresses, request/json-for-programs): the versioned prefixes; operations without their version; requests with a
 * gateway key in a header; and writing requests that are not actions of the console, so that no prompt or key
 * reaches a page or a redirect.
 */
export function isForGateway(head: RequestHead): boolean {
  const target = head.url ?? '/';
  if (isVersioned(target)) return true;
  const { method = 'GET' } = head;
  const [path = '', query = ''] = divide(target);
  if (path === '/api' || path.startsWith('/api/')) return !consoleRoutes.test(path);
  if (carriesKey(head.headers)) return true;
  if (method === 'GET' || method === 'HEAD') return keyInQuery(query) && !('code' in match(method, path));
  if (developmentTools.test(path)) return false;
  return !('code' in match(method, path)) || !isAction(method, path, head.headers);
}

/** Whether the target is under one of the gateway's prefixes, or is not a path. */
function isVersioned(target: string): boolean {
  return /^(?!\/)|^\/+(?:\.{1,2}\/+)*v1(?:beta|alpha)?(?:[/?%#\\]|$)/.test(target);
}

const routedMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH']);

/**
 * The target under which Next passes a gateway request to its route unchanged; null for requests that Next would
 * answer, redirect or rewrite itself: unknown methods, dot segments, invalid escapes, and addresses without a
 * route. Doubled slashes, which it would redirect, are single ones here.
 */
export function routedTarget({ method = '', url = '' }: RequestHead): string | null {
  const [sent = '', query = ''] = divide(url);
  const path = withoutEmptySegments(sent);
  if (!routedMethods.has(method) || !path.startsWith('/')) return null;
  if (/[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path) || !isDecodable(path)) return null;
  const routed = isVersioned(path) ? path : withVersion(method, path);
  return routed === null ? null : `${routed}${query === '' ? '' : `?${query}`}`;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function divide(target: string): readonly [path: string, query: string] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

function carriesKey(headers: RequestHead['headers']): boolean {
  return credentialHeaders.some((name) => {
    const value = headers[name];
    return typeof value === 'string' && isWellFormedKey(value.replace(/^bearer[ \t]+/i, '').trim());
  });
}

function keyInQuery(query: string): boolean {
  return query !== '' && new URLSearchParams(query).getAll('key').some(isWellFormedKey);
}

/** Whether it is a server action, or a form that a page submits without scripts. */
function isAction(method: string, path: string, headers: RequestHead['headers']): boolean {
  if (method !== 'POST') return false;
  if (headers['next-action'] !== undefined) return true;
  if (!formTypes.test(String(headers['content-type'] ?? ''))) return false;
  const cookies = String(headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.split('=', 1)[0]?.trim() ?? '');
  return takesFormsWithoutSession(path) || hasSession(cookies);
}
