import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const skipped = new Set([
  'node_modules',
  'generated',
  'dist',
  'test-results',
  'playwright-report',
  'next-env.d.ts',
]);

/** One of the project's own source files. */
export interface Source {
  /** From the project's root, with slashes. */
  readonly path: string;
  readonly text: string;
  /**
   * What it loads at run time: paths of our own files (or the path after `missing` if there is no such file),
   * otherwise packages.
   */
  readonly imports: readonly string[];
  /** The same, with the imports of types. */
  readonly mentions: readonly string[];
}

/** Every TypeScript and JavaScript file of the project, by path. */
export function readSources(): Map<string, Source> {
  const paths = listFiles('').filter((path) => /\.(ts|tsx|mjs)$/.test(path));
  return new Map(
    paths.map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const resolved = (patterns: readonly RegExp[]) =>
        namedIn(text, patterns).map((name) => resolveName(path, name));
      return [path, { path, text, imports: resolved(statements), mentions: resolved(mentioning) }];
    }),
  );
}

/** Files of the project, except hidden and generated ones. */
export function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.') && !skipped.has(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? listFiles(path) : [path];
    });
}

/** The text without comments, so that words in comments are not mistaken for code. */
export function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[\s;{(])\/\/.*$/gm, '$1');
}

const statements = [
  /^\s*(?:import|export)\s+(?!type\b)(?:[^'"();]*?\sfrom\s+)?['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
];

const mentioning = [
  /^\s*(?:import|export)\s+(?:[^'"();]*?\sfrom\s+)?['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
];

function namedIn(text: string, patterns: readonly RegExp[]): string[] {
  const code = codeOf(text);
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ''));
}

export const missing = 'missing ';
const endings = ['', '.ts', '.tsx', '.mjs', '/index.ts', '/index.tsx'];

function resolveName(from: string, name: string): string {
  const path = name.startsWith('#') ? name.slice(1) : name.startsWith('.') ? join(dirname(from), name) : null;
  if (path === null) return name;
  const found = endings.find(
    (ending) => /\.\w+$/.test(path + ending) && existsSync(join(root, path + ending)),
  );
  return found === undefined ? missing + path : relative('', path + found);
}

/**
 * The shortest chain of imports from `start` to something forbidden, `start` first; null if there is none.
 * Server actions end a chain, because the browser calls them over the network.
 */
export function findChain(
  sources: ReadonlyMap<string, Source>,
  start: string,
  isForbidden: (name: string) => boolean,
): string[] | null {
  const queue: string[][] = [[start]];
  const seen = new Set([start]);
  for (let chain = queue.shift(); chain; chain = queue.shift()) {
    const source = sources.get(chain.at(-1) ?? '');
    if (!source || (chain.length > 1 && isServerActions(source))) continue;
    for (const name of source.imports) {
      if (isForbidden(name)) return [...chain, name];
      if (!seen.has(name)) queue.push([...chain, name]);
      seen.add(name);
    }
  }
  return null;
}

const isServerActions = (source: Source) => /^\s*['"]use server['"]/.test(source.text);

/**
 * Files that import themselves through others, types included: each group once, its files in alphabetical
 * order.
 */
export function findCircles(sources: ReadonlyMap<string, Source>): string[][] {
  const reach = new Map<string, ReadonlySet<string>>();
  for (const start of sources.keys()) {
    const seen = new Set<string>();
    const queue = [start];
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      for (const name of sources.get(path)?.mentions ?? []) {
        if (!sources.has(name) || seen.has(name)) continue;
        seen.add(name);
        queue.push(name);
      }
    }
    reach.set(start, seen);
  }
  const inCircle = [...sources.keys()].filter((path) => reach.get(path)?.has(path)).sort();
  const groups = inCircle.map((path) =>
    inCircle.filter((other) => reach.get(path)?.has(other) && reach.get(other)?.has(path)),
  );
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}
