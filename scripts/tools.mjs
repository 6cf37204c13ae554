import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { say } from './bootstrap.mjs';

const tools = [
  {
    name: 'Chromium',
    programs: [
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome',
      'google-chrome-stable',
    ],
    variable: 'CHROMIUM',
    // The same engine without windows, which take two thirds of the processor time of each page.
    aptPackages: ['chromium-headless-shell', 'chromium'],
    better: 'chromium-headless-shell',
    remedy: 'install Chromium or Chrome, or set CHROMIUM to its path',
  },
  {
    name: 'Redis',
    programs: ['redis-server'],
    variable: 'TEST_REDIS_URL',
    aptPackages: ['redis-server'],
    remedy: 'install redis-server, or set TEST_REDIS_URL to a server that the tests may use',
  },
];

/**
 * Finds the programs that the tests need besides the packages: named in the environment, on PATH, or installed with
 * apt-get if we are root. A slower program is used if apt-get does not have the better one.
 * @returns {string[]} one line for each that is still missing, with its remedy.
 */
export function provideTools() {
  const absent = tools.filter((tool) => !find(tool) || isSecondBest(tool));
  if (absent.length > 0 && process.getuid?.() === 0 && onPath('apt-get')) {
    say(`Installing ${absent.map((tool) => tool.name).join(' and ')} with apt-get…`);
    apt('update', '-qq');
    for (const tool of absent) install(tool);
  }
  const chromium = find(tools[0]);
  if (chromium) process.env.CHROMIUM = chromium;
  return tools
    .filter((tool) => !find(tool))
    .map((tool) => `Missing: ${tool.name}. To run the tests, ${tool.remedy}.`);
}

function isSecondBest({ better, variable }) {
  return better !== undefined && !process.env[variable] && !onPath(better);
}

/** Installs the first of its packages that exists. */
function install({ aptPackages }) {
  const lines = [];
  for (const name of aptPackages) {
    const { status, stderr, error } = apt('install', '-y', '-qq', '--no-install-recommends', name);
    if (status === 0) return;
    lines.push(`apt-get install ${name} failed:\n${stderr ?? error}`);
  }
  say(lines.join('\n'));
}

function find({ programs, variable }) {
  return process.env[variable] || programs.map(onPath).find(Boolean);
}

function onPath(program) {
  return (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function apt(...args) {
  // Restarts a stalled download, and waits for another apt-get.
  const patience = ['Acquire::Retries=3', 'Acquire::http::Timeout=30', 'DPkg::Lock::Timeout=300'];
  return spawnSync('apt-get', [...patience.flatMap((option) => ['-o', option]), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
