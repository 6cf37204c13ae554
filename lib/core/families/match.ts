import type { Refusal } from '#lib/core/errors';
import type { Operation } from '#lib/core/families/family';
import { operations } from '#lib/core/families/index';
import { missingOperation, noPath, wrongMethod } from '#lib/core/families/matching/nearest';
import { decodeSegments } from '#lib/core/families/matching/path';
import { buildTable, type RouteTable, routeOf, verbRouteOf } from '#lib/core/families/matching/routes';
import { spellingsOf, withoutEmptySegments } from '#lib/core/families/matching/spellings';

/** An operation that a request asks for, with its path parameters decoded. */
export interface Matched {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

const noParams: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Finds the operation of a request (contract: request/addresses); its version may be missing or doubled, its
 * slashes doubled.
 * @param path the target before its "?", as the client sent it.
 * @param headers by which two families share some addresses.
 * @returns the operation; else `not_found`, `method_not_allowed` with its `Allow`, or `invalid_body` for
 * a path that is not well formed.
 */
export function match(method: string, path: string, headers: Headers = noHeaders): Matched | Refusal {
  return spokenOf(matchIn(table, method, withoutEmptySegments(path)), headers);
}

/** The same over any table of operations. */
export function createMatch(list: readonly Operation[]): (method: string, path: string) => Matched | Refusal {
  const own = buildTable(list);
  return (method, path) => matchIn(own, method, withoutEmptySegments(path));
}

/** Lower-case names. */
type Headers = Readonly<Record<string, string | undefined>>;

/** The operation of the same address that a request's header calls instead (contract: families/shared-addresses). */
function spokenOf(found: Matched | Refusal, headers: Headers): Matched | Refusal {
  if ('code' in found) return found;
  const other = spoken
    .get(addressOf(found.operation))
    ?.find(
      (one) => isSpoken(one, headers) && one.prefixes.some((prefix) => isUnder(found.operation, prefix)),
    );
  return other ? { operation: other, params: found.params } : found;
}

function isSpoken({ spokenWith = '', spokenAs }: Operation, headers: Headers): boolean {
  const value = headers[spokenWith];
  return value !== undefined && (spokenAs?.test(value) ?? true);
}

function isUnder({ prefixes }: Operation, prefix: Operation['prefixes'][number]): boolean {
  return prefixes.includes(prefix);
}

function addressOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

/** The path of an operation whose version is missing, with it; null when no operation is meant. */
export function withVersion(method: string, path: string): string | null {
  if (!('code' in findIn(table, method, path))) return null;
  return spellingsOf(path).find((spelling) => !('code' in findIn(table, method, spelling))) ?? null;
}

function matchIn(table: RouteTable, method: string, path: string): Matched | Refusal {
  const found = findIn(table, method, path);
  if (!('code' in found) || found.code !== 'not_found') return found;
  for (const spelling of spellingsOf(path)) {
    const meant = findIn(table, method, spelling);
    if (!('code' in meant) || meant.code === 'method_not_allowed') return meant;
  }
  return found;
}

function findIn(table: RouteTable, method: string, path: string): Matched | Refusal {
  const fixed = table.fixed.get(path);
  if (fixed !== undefined) {
    const operation = fixed.methods.get(method)?.operation;
    return operation ? { operation, params: noParams } : wrongMethod(fixed, method, path);
  }
  const segments = decodeSegments(path);
  if (!Array.isArray(segments)) return segments.code === 'not_found' ? noPath(table, method, path) : segments;
  const hit = routeOf(table, segments) ?? verbRouteOf(table, segments);
  if (hit === null) return noPath(table, method, path);
  const served = hit.route.methods.get(method);
  if (served === undefined) {
    const last = hit.values.at(-1) ?? '';
    const missing = path.endsWith(`/${last}`) || last.includes(':');
    return (
      (missing ? missingOperation(table, hit.route, { method, path, last }) : null) ??
      wrongMethod(hit.route, method, path)
    );
  }
  const params: Record<string, string> = {};
  served.names.forEach((name, index) => {
    params[name] = hit.values[index] ?? '';
  });
  return { operation: served.operation, params };
}

const noHeaders: Headers = Object.freeze({});
const table = buildTable(operations.filter(({ spokenWith }) => spokenWith === undefined));
/** Operations that are called by a header, by their address. */
const spoken: ReadonlyMap<string, readonly Operation[]> = Map.groupBy(
  operations.filter(({ spokenWith }) => spokenWith !== undefined),
  addressOf,
);
