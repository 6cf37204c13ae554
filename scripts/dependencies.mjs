import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { run } from './run.mjs';

/**
 * Whether node_modules contains what package-lock.json requires, according to npm's own record of what it installed:
 * npm writes it last, so an interrupted installation does not count.
 * @param {string} root of the project.
 * @param {boolean} tests whether the packages of tests and tools are required too.
 */
export function dependenciesAreCurrent(root, tests) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  const wanted = readPackages(join(root, 'package-lock.json'));
  if (!installed || !wanted) return false;
  return Object.entries(wanted).every(([path, { version, optional, dev }]) => {
    const found = installed[path];
    // Optional packages may be for another platform.
    const spared = optional === true || (!tests && dev === true);
    return path === '' || (found ? found.version === version : spared);
  });
}

function readPackages(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : null;
}

/** Overrides settings of the user's npm that would make `npm ci` install something other than the lock file says. */
const flags = [
  '--ignore-scripts',
  '--include=prod',
  '--include=optional',
  '--include=peer',
  '--global=false',
  '--dry-run=false',
  '--package-lock=true',
  '--engine-strict=false',
  '--legacy-peer-deps=false',
  '--strict-peer-deps=false',
  '--install-strategy=hoisted',
  '--bin-links=true',
  '--audit=false',
  '--fund=false',
  '--update-notifier=false',
  '--progress=false',
  '--fetch-retries=5',
  '--loglevel=error',
];

/**
 * `npm ci` without install scripts; needs only the npm registry.
 * @param {string} root of the project.
 * @param {boolean} tests whether to install the packages of tests and tools too, a quarter more.
 */
export async function installDependencies(root, tests) {
  process.stderr.write('Installing the packages (once)…\n');
  const dev = tests ? '--include=dev' : '--omit=dev';
  const [command, ...first] = npm(root);
  const cache = isWritable(homedir()) ? [] : [`--cache=${join(tmpdir(), 'model-gateway-npm')}`];
  const install = () =>
    run(command, [...first, 'ci', dev, ...flags, ...cache], {
      cwd: root,
      env: { ...process.env, PATH: pathWithout(root), NODE_ENV: 'development' },
      output: 'onFailure',
    });
  try {
    await install();
  } catch (error) {
    // A signal ended it.
    if (error.code === undefined || error.code > 128) throw error;
    process.stderr.write('Installing the packages again (downloads are kept)…\n');
    await install();
  }
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * This machine's npm, run by this machine's Node: the one in node_modules is about to be replaced.
 */
function npm(root) {
  const script = process.env.npm_execpath ?? '';
  const node = process.env.npm_node_execpath ?? process.execPath;
  const isOurs = node.startsWith(join(root, 'node_modules'));
  return basename(script) === 'npm-cli.js' && existsSync(script) && !isOurs ? [node, script] : ['npm'];
}

/** PATH without this project's programs; the folder of the running Node last, where npm often is. */
function pathWithout(root) {
  const folders = (process.env.PATH ?? '')
    .split(':')
    .filter((folder) => !folder.startsWith(join(root, 'node_modules')));
  const own = dirname(process.execPath);
  return [...folders, ...(own.startsWith(join(root, 'node_modules')) ? [] : [own])].join(':');
}
