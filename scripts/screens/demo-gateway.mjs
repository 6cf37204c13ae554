// A gateway with demo data, its pages, and somebody who is signed in: for pictures and measurements of the console.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { prepare, root } from '../bootstrap.mjs';

/**
 * `path` stands below the workspace, unless it begins with a slash; `follow` is what is clicked there, `wait` what must be
 * seen before the page is whole. A `public` page is shown without a session.
 * @typedef {{ name: string, path: string, follow?: string, wait?: string, public?: boolean }} Page
 */

/** @param {string | undefined} word pages whose name contains it, or one of several with commas between; undefined: all. @returns {readonly Page[]} */
export function readPages(word) {
  const all = JSON.parse(readFileSync(new URL('pages.json', import.meta.url), 'utf8'));
  return all.filter(({ name }) => word === undefined || word.split(',').some((part) => name.includes(part)));
}

/** How Chromium is started. */
export const launchOptions = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
};

/** Starts a gateway on the embedded database in a directory and fills it with demo data. */
export async function startDemoGateway(dataDir) {
  const node = await prepare({ build: true, tests: true });
  const port = await freePort();
  const env = { ...process.env, NODE_ENV: 'production', DATA_DIR: dataDir, PORT: String(port) };
  const child = spawn(node, ['server.ts'], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /Sign in\s+(\S+) \/ (\S+)/.exec(text);
      if (found) resolve({ email: found[1], password: found[2] });
    });
    child.once('exit', (code) =>
      reject(new Error(`the gateway ended with ${code} while starting:\n${text}`)),
    );
  });
  const filled = spawnSync(node, ['bin/gateway.ts', 'demo', 'fill', '--time-zone', 'UTC'], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  if (filled.status !== 0) throw new Error('the demo data could not be filled');
  return { url: `http://localhost:${port}`, ...printed, stop: () => child.kill('SIGTERM') };
}

/** Signs in by the form. */
export async function signIn(page, { email, password }) {
  await page.goto('/sign-in');
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((address) => !address.pathname.startsWith('/sign-in'));
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
