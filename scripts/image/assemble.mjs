// `node scripts/image/assemble.mjs FOLDER`: copies the files of the container image: only what runs. Needs installed
// packages, and prepares the generated client and the console's build.
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { prepare, root } from '../bootstrap.mjs';
import { runtimePackages } from './packages.mjs';

/** Files and folders of the project that a running gateway reads. */
const own = [
  'dist',
  'prisma',
  'catalogue',
  'public',
  'docs/guide',
  'docs/contract/operations.md',
  'package.json',
  'LICENSE',
  'scripts/server-flags.json',
  'scripts/image/health.mjs',
];

/** Files of packages that are only for building, other databases or editors. */
const unread = [
  /\.(?:map|md|markdown|tsbuildinfo|flow)$/i,
  /\.d\.[cm]?ts$/,
  /\/next\/dist\/(?:esm|docs|next-devtools|bundle-analyzer|compiled\/(?:next-devtools|.*-experimental))(?:\/|$)/,
  /\/next\/dist\/compiled\/next-server\/(?:.*\.dev\.js|.*experimental.*)$/,
  /\/@prisma\/client\/runtime\/query_compiler_(?:small_.*|fast_bg\.(?:mysql|sqlite|sqlserver|cockroachdb)).*$/,
  /\/@prisma\/client\/(?:generator-build|scripts)(?:\/|$)/,
  /\/stripe\/(?:esm)?\/?types(?:\/|$)/,
  /\/\.(?:github|vscode)(?:\/|$)/,
];

const out = resolve(process.argv[2] ?? 'image');
await prepare({ build: true });
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const path of own) cpSync(join(root, path), join(out, path), { recursive: true });
cpSync(join(root, '.next'), join(out, '.next'), {
  recursive: true,
  filter: (path) => !/\/\.next\/(?:cache|trace|types|diagnostics|dev)(?:$|[/-])|\.map$/.test(path),
});
for (const path of runtimePackages(root)) {
  cpSync(join(root, path), join(out, path), {
    recursive: true,
    dereference: false,
    filter: (file) =>
      !file.slice(join(root, path).length).includes('/node_modules/') &&
      !unread.some((one) => one.test(file)),
  });
}
const megabytes = (bytes) => (bytes / 1024 / 1024).toFixed(0);
const parts = Object.fromEntries(readdirSync(out).map((name) => [name, sizeOf(join(out, name))]));
const total = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
process.stdout.write(`${out}: ${megabytes(total)} MB\n`);
for (const [name, bytes] of Object.entries(parts).sort(([, a], [, b]) => b - a))
  if (bytes > 1024 * 1024) process.stdout.write(`${megabytes(bytes).padStart(6)} MB  ${name}\n`);

/** Bytes of a file or of everything in a folder. */
function sizeOf(path) {
  const found = lstatSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

if (!existsSync(join(out, '.next/BUILD_ID'))) throw new Error('the console is not built');
