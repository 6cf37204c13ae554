import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, type Page } from 'playwright/test';

/** Reads what start-gateway has set. @throws Error if it did not run. */
export function started(name: 'URL' | 'EMAIL' | 'PASSWORD' | 'DATA_DIR' | 'DATABASE_URL'): string {
  const value = process.env[`CONSOLE_${name}`];
  if (!value) throw new Error(`CONSOLE_${name} is missing: run the specs through playwright.config.ts`);
  return value;
}

/** Whether the database is a server's, where an email address must be verified before it gets credit. */
export function onServer(): boolean {
  return process.env.CONSOLE_DATABASE !== 'embedded';
}

/** Fills in the page's sign-in form; by default as the owner of the workspace "demo". */
export async function fillSignIn(
  page: Page,
  email = started('EMAIL'),
  password = started('PASSWORD'),
): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Signs in the owner of the workspace "demo" with the form, and waits for the overview. */
export async function signIn(page: Page): Promise<void> {
  await page.goto('/sign-in');
  await fillSignIn(page);
  await page.waitForURL('**/demo');
}

/** Runs statements in the gateway's own database. */
export async function inDatabase(...statements: string[]): Promise<void> {
  const database = new Client({ connectionString: started('DATABASE_URL') });
  await database.connect();
  try {
    for (const statement of statements) await database.query(statement);
  } finally {
    await database.end();
  }
}

/** Opens the form, creates a key and reads it from the dialog, which stays open. */
export async function createKey(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  await form.getByLabel('Name', { exact: true }).fill(name);
  await form.getByRole('button', { name: 'Create key' }).click();
  const secret = page.getByTestId('secret');
  await expect(secret).toHaveText(/^mg_[0-9A-Za-z]{49}$/);
  return (await secret.textContent()) ?? '';
}

/** The dialog of a new key keeps the focus after the form that opened it has faded out. */
export async function expectFocusStaysAtSecret(page: Page): Promise<void> {
  await expect(page.getByTestId('secret')).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(1);
  await expect(page.getByRole('dialog').locator(':focus')).toHaveText(/^Copy/);
}

/** Closes the dialog of a new key with its own button. */
export async function closeSecret(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  await expect(page.getByTestId('secret')).toHaveCount(0);
}

/** Errors without a row in the log: the database of a busy machine did not resolve the key in time. */
const unresolved = /"(auth_resolve_failed|hydrate_cooldown)"/;

/** Makes one chat call through the gateway, and repeats it while the gateway cannot resolve the key. */
export async function callGateway(key: string, model = 'sandbox/echo'): Promise<Response> {
  for (;;) {
    const answer = await fetch(`${started('URL')}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    if (answer.ok || !unresolved.test(await answer.clone().text())) return answer;
    await pause(250);
  }
}

/** The link in the latest mail to an address, which the gateway prints because it has no mail server. */
export async function linkInLog(email: string): Promise<string> {
  let link = '';
  await expect(() => {
    const lines = readFileSync(join(started('DATA_DIR'), 'console.log'), 'utf8').split('\n');
    const said = lines.flatMap((line) => (line.includes(email) ? [JSON.parse(line)] : []));
    link = said.findLast((one) => one.to === email)?.link ?? '';
    expect(link).toMatch(/token=/);
  }).toPass({ timeout: 120_000 });
  return link;
}
