// A gateway with demo data, its pages and a signed-in user, for screenshots and measurements of the console.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { prepare, root } from '../bootstrap.mjs';
import { freePort } from '../free-port.mjs';

/**
 * `path` is below the workspace unless it begins with a slash; `follow` is clicked there, and the page is complete when
 * `wait` is visible. A `public` page is shown without a session.
 * @typedef {{ name: string, path: string, follow?: string, wait?: string, public?: boolean }} Page
 */

/** @param {string | undefined} word in the name of the pages, or several with commas; undefined: all. @returns {readonly Page[]} */
export function readPages(word) {
  const all = JSON.parse(readFileSync(new URL('pages.json', import.meta.url), 'utf8'));
  return all.filter(({ name }) => word === undefined || word.split(',').some((part) => name.includes(part)));
}

/** Starts Chromium; the packages that drive it are installed first if they are missing. */
export async function launchBrowser() {
  await prepare({ tests: true });
  const { chromium } = await import('playwright');
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}

/** Starts a gateway on the embedded database in a directory and fills it with demo data. */
export async function startDemoGateway(dataDir) {
  const node = await prepare({ build: true, tests: true });
  const port = await freePort();
  const env = { ...process.env, NODE_ENV: 'production', DATA_DIR: dataDir, PORT: String(port) };
  const child = spawn(node, ['dist/server.js'], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /Sign in\s+(\S+) \/ (\S+)/.exec(text);
      if (found) resolve({ email: found[1], password: found[2] });
    });
    child.once('exit', (code) =>
      reject(new Error(`the gateway ended with code ${code} at its start:\n${text}`)),
    );
  });
  const filled = spawnSync(node, ['dist/gateway.js', 'demo', 'fill', '--time-zone', 'UTC'], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  if (filled.status !== 0) throw new Error('the demo data could not be filled');
  return { url: `http://localhost:${port}`, ...printed, stop: () => child.kill('SIGTERM') };
}

/** Signs in with the form. */
export async function signIn(page, { email, password }) {
  await page.goto('/sign-in');
  await page.getByLabel('Email').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((address) => !address.pathname.startsWith('/sign-in'));
}
