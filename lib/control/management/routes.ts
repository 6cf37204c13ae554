import { Denied } from '#lib/control/management/answer';
import type { HttpBinding, Operation } from '#lib/control/operations/declare';
import { quoted } from '#lib/control/operations/refusal';
import { isRefusal, refusal } from '#lib/core/errors';
import { match } from '#lib/core/families/match';

/** An operation at an address, with what the address names. */
export interface Matched {
  readonly operation: Operation;
  readonly binding: HttpBinding;
  /** "workspace" and fields of the operation, as texts. */
  readonly named: Readonly<Record<string, string>>;
}

interface Route {
  readonly operation: Operation;
  readonly binding: HttpBinding;
  /** "workspaces", "{workspace}", "keys". */
  readonly segments: readonly string[];
}

export type Match = (method: string, path: string) => Matched;

/**
 * The answer to a request that sends an API key here (contract: control-plane/api-keys): where such keys can use the
 * path, or which key it takes; never that its own is wrong.
 * @param path behind "/api/v1".
 */
export function refuseApiKey(find: Match, method: string, path: string): Denied {
  const call = match(method, `/v1${path}`);
  if (!isRefusal(call)) {
    const served = call.operation.path.replace('+}', '}');
    const how = `API keys (mg_…) call models under /v1: use ${method} /v1/${served}, with a base URL without /api.`;
    return new Denied(refusal('not_found', how));
  }
  try {
    find(method, path);
  } catch (error) {
    if (!(error instanceof Denied) || error.refusal.code !== 'not_found') throw error;
    const nearest = match(method, `/api/v1${path}`);
    return isRefusal(nearest) ? new Denied(nearest) : error;
  }
  const how = 'This endpoint takes a management key (mgk_…); API keys (mg_…) call models under /v1.';
  return new Denied(refusal('missing_platform_authorization', how));
}

/**
 * Makes the table of addresses from the declarations.
 * @returns a function that finds the operation of a method and a path (behind "/api/v1", still escaped) and
 * throws Denied: not_found, or method_not_allowed with `Allow`.
 */
export function routesOf(operations: readonly Operation[]): Match {
  const routes = operations.flatMap((operation) =>
    operation.http.map((binding): Route => ({ operation, binding, segments: split(binding.path) })),
  );
  return (method, path) => {
    const segments = split(path);
    const fitting = routes.flatMap((route) => {
      const named = nameSegments(route.segments, segments);
      return named ? [{ route, named }] : [];
    });
    const found = fitting.find(({ route }) => route.binding.method === method);
    if (found) return { ...found.route, named: found.named };
    if (fitting.length === 0) {
      throw new Denied(refusal('not_found', `There is nothing at /api/v1${quoted(path).slice(1, -1)}.`));
    }
    const allow = [...new Set(fitting.map(({ route }) => route.binding.method))].sort().join(', ');
    throw new Denied(
      refusal('method_not_allowed', `This endpoint accepts ${allow}; use one of these methods.`, { allow }),
    );
  };
}

function split(path: string): string[] {
  return path.split('/').slice(1);
}

/** The values of the names in the pattern; null if the path does not match. A name in braces is one segment. */
function nameSegments(pattern: readonly string[], path: readonly string[]): Record<string, string> | null {
  if (pattern.length !== path.length) return null;
  const named: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const segment = path[at] ?? '';
    if (!part.startsWith('{')) {
      if (part !== segment) return null;
      continue;
    }
    const text = unescaped(segment);
    if (text === null || text === '') return null;
    named[part.slice(1, -1)] = text;
  }
  return named;
}

function unescaped(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
