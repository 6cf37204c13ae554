// Prepares everything that other programs need: the packages, a Node that runs TypeScript, the Prisma client, the
// server's bundle, the console's build. In plain JavaScript for Node 20, without dependencies.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dependenciesAreCurrent, installDependencies } from './dependencies.mjs';
import { become, run } from './run.mjs';
import { takeTurn } from './turn.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Settings of the tools that we call: no telemetry. */
const quiet = { NEXT_TELEMETRY_DISABLED: '1', CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' };

/**
 * Brings the tree up to date; skips what is already done.
 * @param {{ bundle?: boolean, build?: boolean, tests?: boolean }} wanted `bundle`: also the server and the command line
 *   in `dist`; `build`: also that and the console's production build; `tests`: also the packages of tests and tools.
 * @returns {Promise<string>} path of a Node that runs the project (24 or later).
 */
export async function prepare({ build = false, bundle = build, tests = false } = {}) {
  // Changing the schema needs Prisma's command line, which is a development package.
  const development = () => tests || !clientIsCurrent();
  const installed = () => dependenciesAreCurrent(root, development()) && findNode();
  const ready = () =>
    installed() && clientIsCurrent() && (!bundle || bundleIsCurrent()) && (!build || buildIsCurrent());
  if (!ready()) {
    const release = await takeTurn(root);
    try {
      if (!installed()) await installDependencies(root, development());
      const node = getNode();
      if (!clientIsCurrent()) await generateClient(node);
      if (bundle && !bundleIsCurrent()) await bundlePrograms(node);
      if (build && !buildIsCurrent()) await buildConsole(node);
    } finally {
      release();
    }
  }
  return getNode();
}

/**
 * Prepares the tree and runs a program of the project in place of this process.
 * @param {string[]} args the program and its arguments.
 * @param {{ bundle?: boolean, build?: () => boolean, cwd?: string, env?: NodeJS.ProcessEnv }} options `bundle`: the
 *   program is in `dist`; `build`, whether the console is needed, is called after `.env` is read; `env` is added to our
 *   environment.
 */
export async function launch(args, { bundle = true, build = () => false, cwd = root, env = {} } = {}) {
  try {
    readEnvFile(join(root, '.env'));
    const node = await prepare({ bundle, build: build() });
    process.exitCode = await become(node, args, {
      cwd,
      env: { ...process.env, ...place(), ...quiet, ...env },
    });
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** Adds the settings of a file to our environment, which takes precedence (contract: operations/env-file). */
export function readEnvFile(path) {
  if (!existsSync(path)) return;
  if (!process.loadEnvFile) throw new Error(`To read ${path}, Node 20.12 or later is needed.`);
  process.loadEnvFile(path);
}

/** A relative DATA_DIR is relative to the caller's folder; the default is in the project. */
function place() {
  const { DATA_DIR, DATA_DIR_FILE } = process.env;
  if (DATA_DIR) return { DATA_DIR: resolve(DATA_DIR) };
  return DATA_DIR_FILE ? {} : { DATA_DIR: join(root, '.data') };
}

/** Prints progress to stderr, so that a command's own output stays clean. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** The Node of the project's packages, otherwise this machine's if it is 24 or later; otherwise null. */
function findNode() {
  const bundled = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  const onPath = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'node'));
  return [bundled, process.execPath, ...onPath].find(isNewEnough) ?? null;
}

function isNewEnough(path) {
  if (!existsSync(path)) return false;
  const version =
    path === process.execPath ? process.version : spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout;
  return Number(/^v(\d+)\./.exec(version ?? '')?.[1]) >= 24;
}

function getNode() {
  const node = findNode();
  if (node) return node;
  throw new Error(
    `The packages have no Node 24 for ${process.platform}-${process.arch}. Install Node 24 or later (https://nodejs.org) and try again.`,
  );
}

const clientStamp = join(root, 'generated', '.stamp');
const bundleStamp = join(root, 'dist', 'bundle-stamp');
const bundleSources = [
  'server.ts',
  'bin/gateway.ts',
  'scripts/migrate.ts',
  'scripts/bundle.mjs',
  'lib',
  'tools/demo',
  'tools/sandbox',
  'prisma',
  'generated',
  'package-lock.json',
];
const buildStamp = join(root, '.next', 'build-stamp');
const buildSources = [
  'app',
  'components',
  'lib',
  'tools/sandbox',
  'public',
  'prisma/schema.prisma',
  'package-lock.json',
  'tsconfig.json',
];
const buildFiles = ['next.config.ts', 'proxy.ts', 'instrumentation.ts', 'postcss.config.mjs'];

/** The schema that the committed client was generated from, and the version of Prisma that generated it. */
const clientHash = () => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return `${devDependencies['prisma-cli']} ${hashOf(['prisma/schema.prisma'])}\n`;
};
const bundleHash = () => hashOf(bundleSources);
const bundleIsCurrent = () => readStamp(bundleStamp) === bundleHash();
const buildHash = () => hashOf([...buildSources, ...buildFiles]);
const clientIsCurrent = () =>
  existsSync(join(root, 'generated', 'client.ts')) && readStamp(clientStamp) === clientHash();
/** A tree without pages has nothing to build. */
const buildIsCurrent = () => !existsSync(join(root, 'app')) || readStamp(buildStamp) === buildHash();

async function generateClient(node) {
  say('Generating the database client…');
  // Prisma does not write into a folder that a killed run left incomplete.
  rmSync(join(root, 'generated'), { recursive: true, force: true });
  const hash = clientHash();
  // Prisma would download an engine that it does not need for this, unless it is given a program.
  const engine = ['/bin/true', '/usr/bin/true'].find(existsSync) ?? process.execPath;
  await run(node, [join(root, 'node_modules/prisma-cli/build/index.js'), 'generate', '--no-hints'], {
    cwd: root,
    env: { ...process.env, ...quiet, PRISMA_SCHEMA_ENGINE_BINARY: engine },
    output: 'onFailure',
  });
  writeStamp(clientStamp, hash);
}

async function bundlePrograms(node) {
  rmSync(bundleStamp, { force: true });
  const hash = bundleHash();
  await run(node, [join(root, 'scripts/bundle.mjs')], { cwd: root, output: 'onFailure' });
  writeStamp(bundleStamp, hash);
}

async function buildConsole(node) {
  say('Building the console (only after changes)…');
  rmSync(buildStamp, { force: true });
  const hash = buildHash();
  await run(node, [join(root, 'node_modules/next/dist/bin/next'), 'build'], {
    cwd: root,
    env: { ...process.env, ...quiet, NODE_ENV: 'production' },
    output: 'onFailure',
  });
  writeStamp(buildStamp, hash);
}

/** SHA-256 over the names and contents of files and folders; missing ones are skipped. */
function hashOf(paths) {
  const hash = createHash('sha256');
  const add = (path) => {
    const full = join(root, path);
    if (!existsSync(full)) return;
    if (statSync(full).isDirectory()) for (const name of readdirSync(full).sort()) add(join(path, name));
    else hash.update(path).update('\0').update(readFileSync(full)).update('\0');
  };
  for (const path of paths) add(path);
  return hash.digest('hex');
}

function readStamp(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function writeStamp(file, hash) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, hash);
}
