import { type Refusal, refusal } from '#lib/errors';
import type { Operation } from '#lib/families/family';
import { operations } from '#lib/families/index';
import { decodeSegments } from '#lib/families/matching/path';
import { buildTable, type Route, type RouteTable, routeOf, verbRouteOf } from '#lib/families/matching/routes';

/** An operation that a request asks for, with its path parameters decoded. */
export interface Matched {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

const noParams: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Finds the operation of a request (decisions §3, step 2).
 * @param path the target before its "?", as the client sent it.
 * @returns the operation; else `not_found`, `method_not_allowed` with its `Allow`, or `invalid_body` for
 * a path that is not well formed.
 */
export function match(method: string, path: string): Matched | Refusal {
  return matchIn(table, method, path);
}

/** The same over any table of operations. */
export function createMatch(list: readonly Operation[]): (method: string, path: string) => Matched | Refusal {
  const own = buildTable(list);
  return (method, path) => matchIn(own, method, path);
}

function matchIn(table: RouteTable, method: string, path: string): Matched | Refusal {
  const fixed = table.fixed.get(path);
  if (fixed !== undefined) {
    const operation = fixed.methods.get(method)?.operation;
    return operation ? { operation, params: noParams } : wrongMethod(fixed, method, path);
  }
  const segments = decodeSegments(path);
  if (!Array.isArray(segments)) {
    const meant = segments.code === 'not_found' ? suggestion(table, path) : null;
    return meant === null ? segments : refusal('not_found', `There is no ${shownPath(path)}; use ${meant}.`);
  }
  const hit = routeOf(table, segments) ?? verbRouteOf(table, segments);
  if (hit === null) return notFound(table, path);
  const end = hit.route.methods.get(method);
  if (end === undefined) return wrongMethod(hit.route, method, path);
  const params: Record<string, string> = {};
  end.names.forEach((name, index) => {
    params[name] = hit.values[index] ?? '';
  });
  return { operation: end.operation, params };
}

function wrongMethod(route: Route, method: string, path: string): Refusal {
  const allow = [...route.methods.keys()].join(', ');
  const shown = /^[A-Z]{1,16}$/.test(method) ? method : 'This method';
  return refusal('method_not_allowed', `${shown} is not served on ${shownPath(path)}; use ${allow}.`, {
    allow,
  });
}

function notFound(table: RouteTable, path: string): Refusal {
  const near = suggestion(table, path);
  const advice = near ? `use ${near}` : 'GET /v1/models lists what this gateway serves';
  return refusal('not_found', `There is no ${shownPath(path)}; ${advice}.`);
}

/** The path that the client most likely meant: a doubled or missing version, a slash too many, other case. */
function suggestion(table: RouteTable, path: string): string | null {
  const lower = path.toLowerCase();
  const trimmed = lower.replace(/\/+/g, '/').replace(/\/$/, '');
  const single = trimmed.replace(/^\/(v1|v1beta|v1alpha)\/(v1|v1beta|v1alpha)(?=\/)/, '/$2');
  for (const candidate of [trimmed, single, `/v1${trimmed}`]) {
    if (candidate !== path && table.fixed.has(candidate)) return candidate;
  }
  const tail = single.replace(/^\/(v1|v1beta|v1alpha)\//, '/');
  for (const prefix of ['v1', 'v1beta']) {
    if (table.fixed.has(`/${prefix}${tail}`)) return `/${prefix}${tail}`;
  }
  return null;
}

function shownPath(path: string): string {
  return path.length > 100 ? `${path.slice(0, 100)}…` : path;
}

const table = buildTable(operations);
