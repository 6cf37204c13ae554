import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';

/** The programs in the image, and the folders that they load by name. */
const sources = [
  'server.ts',
  'bin/gateway.ts',
  'lib',
  'tools/demo',
  'tools/sandbox',
  'prisma/seed.ts',
  'generated',
];

/** Packages that other packages depend on, but a gateway does not need: compilers and development tools. */
const unwanted =
  /^(?:@next\/swc-.*|@img\/.*|sharp|typescript|caniuse-lite|baseline-browser-mapping|postcss)$/;

/**
 * Folders of the packages that a running gateway needs, relative to `root`: those that server code imports, those that
 * Next's build found for its pages, and their dependencies.
 * @param {string} root of the project, with installed packages and the console's build.
 * @returns {string[]} such as "node_modules/pg", sorted.
 */
export function runtimePackages(root) {
  const found = new Set();
  const visit = (name, from) => {
    const path = locate(root, name, from);
    if (path === null || found.has(path)) return;
    found.add(path);
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
    } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
    for (const wanted of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      if (!unwanted.test(wanted)) visit(wanted, path);
  };
  for (const name of importedPackages(root)) visit(name, '');
  for (const path of tracedPackages(root))
    if (!unwanted.test(nameOf(path))) visit(nameOf(path), dirname(path));
  return [...found].sort();
}

/** Names of packages that server code imports, except for types. */
export function importedPackages(root) {
  const names = new Set();
  for (const path of sources.flatMap((one) => filesIn(join(root, one)))) {
    const text = readFileSync(path, 'utf8');
    const imports =
      /(?:^|\n)(?:import|export)\s+(?!type\b)[^;'"]*?from\s+'([^'#.][^']*)'|import\('([^'#.][^']*)'\)|\n(?:import|export) '([^'#.][^']*)'/g;
    for (const [, from, late, bare] of text.matchAll(imports)) {
      const name = packageOf(from ?? late ?? bare ?? '');
      if (!isBuiltin(name)) names.add(name);
    }
  }
  // Loaded by Next by name.
  for (const name of ['next', 'react', 'react-dom']) names.add(name);
  return [...names].sort();
}

/** Packages that pages load, according to Next's build. */
function tracedPackages(root) {
  const folder = join(root, '.next/server');
  if (!existsSync(folder)) return [];
  const paths = new Set();
  for (const trace of filesIn(folder).filter((path) => path.endsWith('.nft.json'))) {
    for (const file of JSON.parse(readFileSync(trace, 'utf8')).files) {
      const [, path] = /(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
      if (path) paths.add(path);
    }
  }
  return [...paths];
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesIn(join(path, name)));
}

function packageOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Finds a package as Node does: next to the one that needs it, then further out. null: not installed. */
function locate(root, name, from) {
  for (
    let at = from;
    ;
    at = at.includes('/node_modules/') ? at.slice(0, at.lastIndexOf('/node_modules/')) : ''
  ) {
    const path = join(at, 'node_modules', name);
    if (existsSync(join(root, path, 'package.json'))) return path;
    if (at === '') return null;
  }
}
