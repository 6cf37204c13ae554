import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'playwright/test';
import { createDatabase } from '#tests/support/database';
import { freePort } from '#tests/support/run/free-port';
import { secrets } from '#tests/support/shared/attach';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The link on the last line that the start prints. */
async function printed(server: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of server.stdout ?? []) {
    text += chunk;
    const link = /\bhttp\S+\/welcome#\S+\n/.exec(text);
    if (link) return link[0].trim();
  }
  throw new Error(`the start printed no link:\n${text}`);
}

test('the link printed at the first start creates the first operator (contract: operations/first-operator)', async ({
  page,
}) => {
  // The first start on the embedded database creates a user with a sandbox instead.
  test.skip(process.env.CONSOLE_DATABASE === 'embedded');
  const database = await createDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-first-'));
  const server = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      ...secrets,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      SANDBOX: 'on',
    },
  });
  try {
    const link = await printed(server);
    await page.goto(link);
    await page.getByLabel('Email').fill('ann@example.com');
    await page.getByLabel('Password', { exact: true }).fill('three random words');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL('**/ann');
    await page.goto(new URL('/operator/providers', link).href);
    await expect(page.getByRole('navigation', { name: 'Operator' })).toBeVisible();
    await page.getByRole('button', { name: 'Account and theme' }).click();
    await expect(page.getByText(/^Model Gateway \d+\.\d+\.\d+/)).toBeVisible();

    // The link works once; a second person is told so.
    const stranger = await (await page.context().browser()?.newContext())?.newPage();
    if (!stranger) throw new Error('the browser is gone');
    await stranger.goto(link);
    await stranger.getByLabel('Email').fill('bob@example.com');
    await stranger.getByLabel('Password', { exact: true }).fill('three random words');
    await stranger.getByRole('button', { name: 'Create account' }).click();
    await expect(stranger.getByRole('alert').filter({ hasText: 'already has an operator' })).toBeVisible();
    await stranger.context().close();
  } finally {
    if (server.exitCode === null && server.kill('SIGTERM')) await once(server, 'exit');
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
