import { expect } from 'playwright/test';
import { addPerson, enter, makeKey, openKeys, test } from '#tests/console/home';
import { callGateway, closeSecret, createKey } from '#tests/console/visit';
import { createKey as addKey } from '#tests/support/control/operate';
import { spendAgo } from '#tests/support/control/spend';

test('a new secret survives Esc, a click outside and Back, and is gone once it is confirmed as saved', async ({
  page,
  home,
}) => {
  await openKeys(page, home);
  const key = await createKey(page, 'kept');
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  await page.evaluate(() => window.history.back());
  await expect(page.getByTestId('secret')).toHaveText(key);
  await expect(page).toHaveURL(new RegExp(`/${home.slug}/keys$`));
  await closeSecret(page);
  expect(await page.content()).not.toContain(key);
  await page.reload();
  await expect(page.getByRole('row').filter({ hasText: 'kept' })).toBeVisible();
  expect(await page.content()).not.toContain(key);
});

test('the copy button copies the whole key, even on plain http', async ({ page, context, home }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openKeys(page, home);
  // On plain http from a host other than localhost, the page has no clipboard API.
  await page.evaluate(() => Object.defineProperty(window, 'isSecureContext', { value: false }));
  const key = await createKey(page, 'copied');
  await page.getByRole('button', { name: 'Copy key' }).click();
  await expect(page.getByText('Copied API key')).toBeAttached();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await closeSecret(page);
  await page.getByRole('button', { name: 'Actions for copied' }).click();
  await page.getByRole('menuitem', { name: 'Copy key id' }).click();
  await expect(page.getByText('Copied the id of copied')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^[0-9a-f-]{36}$/);
});

test('limits are checked at their fields, and shown in the list', async ({ page, home }) => {
  await openKeys(page, home);
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog');
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(form.getByText('A name is required.')).toBeVisible();
  await form.getByLabel('Name', { exact: true }).fill('limited');
  await form.getByText('Spend caps, rate limits, content and repeats').click();
  await form.getByLabel('Per day').fill('0');
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(form.getByText('A cap must be more than 0 dollars')).toBeVisible();
  await expect(form.getByLabel('Per day')).toBeFocused();
  await form.getByLabel('Per day').fill('2.50');
  await form.getByLabel('Requests a minute').fill('1');
  await form.getByRole('button', { name: 'Selected models' }).click();
  await form.getByRole('checkbox', { name: 'sandbox/echo' }).click();
  await form.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.getByTestId('secret').textContent()) ?? '';
  await closeSecret(page);
  const row = page.getByRole('row').filter({ hasText: 'limited' });
  await expect(row).toContainText('1 RPM');
  await expect(row).toContainText('$2.50 a day');
  await expect(row).toContainText('sandbox/echo');
  expect((await callGateway(key)).status).toBe(200);
  expect((await callGateway(key)).status).toBe(429);
});

test('the address of a new key opens the form once', async ({ page, home }) => {
  await page.goto(`/${home.slug}/keys?new=key`);
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  await form.getByLabel('Name', { exact: true }).fill('from a link');
  await expect(page).toHaveURL(new RegExp(`/${home.slug}/keys$`));
  await form.getByRole('button', { name: 'Create key' }).click();
  await closeSecret(page);
  await expect(page.getByRole('row').filter({ hasText: 'from a link' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('row').filter({ hasText: 'from a link' })).toBeVisible();
  await expect(form).toHaveCount(0);
});

test('a missing or past last day is refused at its field', async ({ page, home }) => {
  await openKeys(page, home);
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill('too late');
  await form.getByRole('button', { name: 'Date' }).click();
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(form.getByText('Choose the last day.')).toBeVisible();
  await form.getByLabel('Last day').fill('2020-01-01');
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(form.getByText('This time is in the past; choose a later one, or none.')).toBeVisible();
  await expect(form.getByLabel('Last day')).toBeFocused();
});

test('revoking a key asks for its name and is permanent', async ({ page, home, db }) => {
  const key = await makeKey(db, home, 'doomed');
  await openKeys(page, home);
  await page.getByRole('button', { name: 'Actions for doomed' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke doomed?' });
  await dialog.getByRole('textbox').fill('another');
  await dialog.getByRole('button', { name: 'Revoke key' }).click();
  await expect(dialog.getByText('Type doomed exactly as shown.')).toBeVisible();
  await dialog.getByRole('textbox').fill('doomed');
  await dialog.getByRole('button', { name: 'Revoke key' }).click();
  const row = page.getByRole('row').filter({ hasText: 'doomed' });
  await expect(row).toContainText('Revoked');
  expect((await callGateway(key)).status).toBe(401);
  await page.getByRole('button', { name: 'Actions for doomed' }).click();
  await expect(page.getByRole('menuitem', { name: 'Copy key id' })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Enable' })).toHaveCount(0);
});

test('a viewer sees the keys, and why they cannot be changed', async ({ page, context, home, db }) => {
  await addKey(db, { workspace: home.slug, name: 'shown' });
  await enter(context, await addPerson(db, home.slug, 'viewer'));
  await openKeys(page, home);
  const create = page.getByRole('button', { name: 'Create key' });
  await expect(create).toHaveAttribute('aria-disabled', 'true');
  await create.focus();
  await expect(page.getByText(/Your role is viewer. Ask an owner, admin or developer/).first()).toBeVisible();
  await page.getByRole('button', { name: 'Actions for shown' }).click();
  await expect(page.getByRole('menuitem', { name: 'Disable' })).toHaveAttribute('aria-disabled', 'true');
});

test('a key whose calls are refused shows why and until when, in the list and on its page', async ({
  page,
  home,
  db,
}) => {
  const { id } = await addKey(db, { workspace: home.slug, name: 'spent', dailyCap: '0.000001' });
  await spendAgo(db.pool, id, 0, 2_000n);
  await openKeys(page, home);
  const row = page.getByRole('row').filter({ hasText: 'spent' });
  await expect(row).toContainText('Cap reached');
  await expect(row).toContainText(/resets \d+ \w+, 00:00/);
  await expect(row).toContainText('$0.000001 a day');
  await expect(row).not.toContainText('No key limits');
  await row.getByRole('link', { name: 'spent' }).click();
  await expect(page.getByText(/^This key has spent \$0.000002 of its cap of \$0.000001 a day/)).toBeVisible();
});

test('an error of a group of choices is linked to it, and gets the focus', async ({ page, home }) => {
  await openKeys(page, home);
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill('no model');
  const some = form.getByRole('button', { name: 'Selected models' });
  await some.click();
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(some).toBeFocused();
  await expect(some).toHaveAccessibleDescription(/model/);
});
