import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';

/** Where programs begin that run in the image, and what they load by name alone. */
const sources = [
  'server.ts',
  'bin/gateway.ts',
  'lib',
  'tools/demo',
  'tools/sandbox',
  'prisma/seed.ts',
  'generated',
];

/** Wanted by packages, but not by a gateway: compilers and tools of development. */
const unwanted =
  /^(?:@next\/swc-.*|@img\/.*|sharp|typescript|caniuse-lite|baseline-browser-mapping|postcss)$/;

/**
 * Folders of the packages that the running gateway imports, by itself or through others, relative to `root`: what server
 * code names, what Next's build found that its pages load, and their dependencies.
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

/** Names of packages that server code imports, types apart. */
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

/** Packages of which Next's build found that pages load files. */
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

/** As Node looks for a package: beside the one that wants it, then further out. null: it is not installed. */
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
