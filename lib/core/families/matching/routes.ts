import type { Operation } from '#lib/core/families/family';

/** One path with all that is served on it. */
export interface Route {
  /** It ends in a verb: ":generateContent". */
  readonly verb: boolean;
  readonly methods: ReadonlyMap<string, { readonly operation: Operation; readonly names: readonly string[] }>;
}

/** A path with parameters, divided for comparison. */
interface Pattern extends Route {
  readonly parts: readonly Part[];
  /** Index of the one part that takes several segments; -1: none. */
  readonly wide: number;
  /** More literal patterns are tried first. */
  readonly weight: number;
}

type Part = { readonly literal: string } | { readonly verb: string };

export interface RouteTable {
  /** Paths without parameters, whole. */
  readonly fixed: ReadonlyMap<string, Route>;
  /** The others, by prefix and first segment ("v1/videos"), the most literal first. */
  readonly patterns: ReadonlyMap<string, readonly Pattern[]>;
}

type Methods = Map<string, { operation: Operation; names: readonly string[] }>;

const parameter = /^\{(\w+)(\+?)\}(:\w+)?$/;

/** Turns the operations of all families into look-ups; made once. */
export function buildTable(operations: readonly Operation[]): RouteTable {
  const shapes = new Map<string, { operation: Operation; prefix: string; methods: Methods }>();
  for (const operation of operations) {
    const names = [...operation.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => name);
    for (const prefix of operation.prefixes) {
      const shape = `/${prefix}/${operation.path.replace(/\{\w+/g, '{')}`;
      const known = shapes.get(shape) ?? { operation, prefix, methods: new Map() };
      known.methods.set(operation.method, { operation, names });
      shapes.set(shape, known);
    }
  }
  const fixed = new Map<string, Route>();
  const patterns = new Map<string, Pattern[]>();
  for (const [shape, { operation, prefix, methods }] of shapes) {
    if (!operation.path.includes('{')) {
      fixed.set(shape, { methods, verb: false });
    } else {
      const pattern = compile(operation.path, methods);
      const bucket = `${prefix}/${operation.path.split('/')[0]}`;
      patterns.set(
        bucket,
        [...(patterns.get(bucket) ?? []), pattern].sort((a, b) => b.weight - a.weight),
      );
    }
  }
  return { fixed, patterns };
}

function compile(path: string, methods: Methods): Pattern {
  let wide = -1;
  let weight = 0;
  const parts = path.split('/').map((segment, index): Part => {
    const found = parameter.exec(segment);
    if (!found) {
      weight += 4;
      return { literal: segment };
    }
    if (found[2] === '+') wide = index;
    else weight += 1;
    if (found[3]) weight += 2;
    return { verb: found[3] ?? '' };
  });
  return { methods, parts, wide, weight, verb: /:\w+$/.test(path) };
}

/** @returns the route of decoded segments and the values of its parameters, in order; null: none. */
export function routeOf(
  table: RouteTable,
  segments: readonly string[],
): { readonly route: Route; readonly values: readonly string[] } | null {
  const whole = table.fixed.get(`/${segments.join('/')}`);
  if (whole && !segments.some((segment) => segment.includes('/'))) return { route: whole, values: [] };
  const [prefix, ...rest] = segments;
  for (const pattern of table.patterns.get(`${prefix}/${rest[0]}`) ?? []) {
    const values = valuesOf(pattern, rest);
    if (values !== null) return { route: pattern, values };
  }
  return null;
}

/**
 * The route of a verb on a slug with a slash that lacks "models/" before it: one client takes
 * such a slug for the whole name of a resource (docs/decisions/generate-content.md). null: none.
 */
export function verbRouteOf(table: RouteTable, segments: readonly string[]): ReturnType<typeof routeOf> {
  const [prefix = '', ...slug] = segments;
  // After some other prefix ("v2/models/x"), "models" is not part of a slug.
  if (slug.includes('models') || slug.length < 2 || !slug.at(-1)?.includes(':')) return null;
  const hit = routeOf(table, [prefix, 'models', ...slug]);
  return hit?.route.verb ? hit : null;
}

function valuesOf({ parts, wide }: Pattern, segments: readonly string[]): readonly string[] | null {
  const extra = segments.length - parts.length;
  if (extra < 0 || (extra > 0 && wide < 0)) return null;
  const values: string[] = [];
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const many = index === wide;
    const text = many ? segments.slice(at, at + extra + 1).join('/') : (segments[at] ?? '');
    at += many ? extra + 1 : 1;
    if ('literal' in part) {
      if (text !== part.literal) return null;
      continue;
    }
    if (!text.endsWith(part.verb) || (!many && text.includes('/'))) return null;
    const value = text.slice(0, text.length - part.verb.length);
    if (value === '') return null;
    values.push(value);
  }
  return values;
}
