// Bundles the programs of a running gateway into `dist`: a start loads a few files of JavaScript in place of a thousand
// of TypeScript (docs/decisions/bundled-server.md). Packages are not bundled.
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');

const programs = {
  server: 'server.ts',
  gateway: 'bin/gateway.ts',
  migrate: 'scripts/migrate.ts',
};

/**
 * Lets `new URL('…', import.meta.url)` name the same file as in the source: a program that is started by its path gets an
 * entry of its own, and any other file is found from the bundle's folder.
 */
const sameUrls = {
  name: 'same-urls',
  transform(code, id) {
    return code.replaceAll(/new URL\('([^']+)', import\.meta\.url\)/g, (_, path) => {
      const target = resolve(dirname(id), path);
      if (!target.endsWith('.ts')) {
        const folder = path.endsWith('/') ? '/' : '';
        return `new URL('${relative(dist, target)}${folder}', import.meta.url)`;
      }
      const name = relative(root, target).replace('.ts', '').replaceAll('/', '-');
      return `new URL(import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: 'chunk', id: target, name })})`;
    });
  },
};

const bundle = await rolldown({
  cwd: root,
  input: programs,
  platform: 'node',
  external: (id) => !/^[./#]/.test(id),
  plugins: [sameUrls],
  checks: { ineffectiveDynamicImport: false },
  // Nothing is left out: a call such as decodeURI(path) counts as without effect there, although it may throw.
  treeshake: false,
});
// Parts of an earlier bundle stay: a server that is still running may load them later.
await bundle.write({
  dir: dist,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  minify: false,
});
await bundle.close();
