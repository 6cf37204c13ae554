import { type Refusal, refusal } from '#lib/core/errors';
import type { Route, RouteTable } from '#lib/core/families/matching/routes';

/** Longest path that a message repeats in full, and for which a similar one is searched; characters. */
const LONGEST_SHOWN = 100;

/** 405 with the methods that the path supports (RFC 9110 §15.5.6). */
export function wrongMethod(route: Route, method: string, path: string): Refusal {
  const allow = [...route.methods.keys()].join(', ');
  return refusal(
    'method_not_allowed',
    `${shownMethod(method)} is not supported on ${shownPath(path)}; use ${allow}.`,
    {
      allow,
    },
  );
}

/** 404 that names the path and the nearest one that exists. */
export function noPath(table: RouteTable, method: string, path: string): Refusal {
  const reason = /^\/v1\/realtime\//.test(path) ? notRealtime(path) : null;
  if (reason) return refusal('not_found', reason);
  const near = nearest(table, path);
  const advice = near ? `use ${near}` : 'GET /v1/models lists the models of this gateway';
  return refusal('not_found', `There is no ${shownMethod(method)} ${shownPath(path)}; ${advice}.`);
}

/** What of the Realtime API is not served (contract: realtime/not-served). */
function notRealtime(path: string): string {
  if (/^\/v1\/realtime\/calls(\/|$)/.test(path)) {
    return 'Calls of the Realtime API by WebRTC and SIP are not served: their media would not pass through the gateway; connect a WebSocket to /v1/realtime?model=MODEL.';
  }
  return 'Ephemeral keys of the Realtime API are not issued: what a client does with one could not be limited or charged; connect a WebSocket to /v1/realtime?model=MODEL with an API key.';
}

/**
 * Whether a path that only looks like one of `route` names an operation that does not exist: a verb on a
 * model ("models/x:embedContent"), or a word in the place of an id ("responses/compact").
 * @param last the value of the last parameter of the route.
 * @returns 404 that names what is missing; null when it is an id, so that only the method is wrong.
 */
export function missingOperation(
  table: RouteTable,
  route: Route,
  { method, path, last }: { readonly method: string; readonly path: string; readonly last: string },
): Refusal | null {
  const verb = /:[A-Za-z]+$/.exec(last)?.[0];
  const model = /^\/[^/]+\/models\//.test(path);
  if (!route.verb && model && verb) {
    return refusal(
      'not_found',
      `There is no ${shownMethod(method)} ${verb} on models; use ${verbsOf(table).join(', ')}.`,
    );
  }
  if (model || !/^[a-z]+(?:_[a-z]+)*$/.test(last)) return null;
  const [, prefix = '', first = ''] = path.split('/');
  const served = servedUnder(table, prefix, first);
  return refusal(
    'not_found',
    `There is no ${shownMethod(method)} ${shownPath(path)}; use ${served.join(', ')}.`,
  );
}

/** The verbs of models, such as ":generateContent". */
function verbsOf({ patterns }: RouteTable): readonly string[] {
  const routes = (patterns.get('v1beta/models') ?? []).filter(({ verb }) => verb);
  const paths = routes.flatMap(({ methods }) => [...methods.values()].map(({ operation }) => operation.path));
  return paths.map((path) => path.slice(path.lastIndexOf(':')));
}

function servedUnder({ fixed, patterns }: RouteTable, prefix: string, first: string): readonly string[] {
  const root = `/${prefix}/${first}`;
  const own = fixed.get(root);
  return [...(own ? [own] : []), ...(patterns.get(`${prefix}/${first}`) ?? [])].flatMap(({ methods }) =>
    [...methods.values()].map(({ operation }) => `${operation.method} /${prefix}/${operation.path}`),
  );
}

/** The path that the client most likely meant: a slash too many, other case, another prefix, one common word. */
function nearest({ fixed, patterns }: RouteTable, path: string): string | null {
  if (path.length > LONGEST_SHOWN) return null;
  const trimmed = path.toLowerCase().replace(/\/+/g, '/').replace(/\/$/, '');
  for (let at = 0; at >= 0; at = trimmed.indexOf('/', at + 1)) {
    const tail = trimmed.slice(at);
    for (const candidate of [tail, `/v1${tail}`, `/v1beta${tail}`]) {
      if (candidate !== path && fixed.has(candidate)) return candidate;
    }
  }
  const words = new Set(trimmed.split('/').filter((word) => !/^(|v\d\w*|api)$/.test(word)));
  const verb = [...words].some((word) => word.includes(':')) && patterns.has('v1beta/models');
  if (verb) return '/v1beta/models/{model}:generateContent';
  let best: string | null = null;
  let most = 0;
  for (const candidate of fixed.keys()) {
    const common = candidate.split('/').filter((word) => words.has(word)).length;
    if (common > most) [best, most] = [candidate, common];
  }
  return best;
}

function shownMethod(method: string): string {
  return /^[A-Z]{1,16}$/.test(method) ? method : 'This method';
}

function shownPath(path: string): string {
  return path.length > LONGEST_SHOWN ? `${path.slice(0, LONGEST_SHOWN)}…` : path;
}
