import { readFile } from 'node:fs/promises';
import { expect } from 'playwright/test';
import { addPerson, enter, test } from '#tests/console/home';
import { closeSecret, expectFocusStaysAtSecret } from '#tests/console/visit';
import { setWorkspace } from '#tests/support/control/operate';

test('a workspace can be renamed, found at its old address, and deleted by typing its slug', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/settings`);
  const slug = `moved-${home.slug}`;
  await page.getByLabel('Slug', { exact: true }).fill(slug);
  await page.getByRole('region', { name: 'Address' }).getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(`**/${slug}/settings`);
  await page.goto(`/${home.slug}/settings`);
  await page.waitForURL(`**/${slug}/settings`);
  const limits = page.getByRole('region', { name: 'Workspace limits' });
  await limits.getByLabel('Requests a minute').fill('0');
  await limits.getByRole('button', { name: 'Save' }).click();
  await expect(limits.getByText('A limit must be a whole number from 1')).toBeVisible();
  await limits.getByLabel('Requests a minute').fill('7');
  await limits.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('region', { name: 'Current usage' })).toContainText('of 7');
  await page.getByRole('button', { name: 'Delete workspace' }).click();
  const asked = page.getByRole('dialog');
  await expect(asked).toContainText('1 member loses access');
  await asked.getByRole('textbox').fill('something else');
  await asked.getByRole('button', { name: 'Delete workspace' }).click();
  await expect(asked.getByText(`Type ${slug} exactly`)).toBeVisible();
  await asked.getByRole('textbox').fill(slug);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'You are not in a workspace yet' })).toBeVisible();
  expect((await page.goto(`/${slug}/settings`))?.status()).toBe(404);
});

test('a management key is shown once, and the audit log and its file say who created and revoked it', async ({
  page,
  home,
  db,
  context,
}) => {
  const name = '=<img src=x onerror=document.title=1>';
  await setWorkspace(db, { workspace: home.slug, name });
  await page.goto(`/${home.slug}/management-keys`);
  await page.getByRole('button', { name: 'Create management key' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Create key' }).press('Enter');
  await expect(page.getByTestId('secret')).toHaveText(/^mgk_\w{49}$/);
  const secret = (await page.getByTestId('secret').textContent()) ?? '';
  await expectFocusStaysAtSecret(page);
  await closeSecret(page);
  await page.getByRole('button', { name: `Revoke ${name}` }).click();
  await page.getByRole('textbox').fill(name);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('row').filter({ hasText: name })).toContainText('Revoked');
  expect(await page.content()).not.toContain(secret);

  await page.goto(`/${home.slug}/audit`);
  await page.getByLabel('Action').selectOption('management-key.revoke');
  await page.waitForURL('**/audit?action=management-key.revoke');
  const row = page.getByRole('table').getByRole('row').nth(1);
  await expect(row).toContainText(home.owner.email);
  await expect(row).toContainText('revoked the management key');
  await page
    .getByRole('link', { name: 'Clear' })
    .or(page.getByRole('button', { name: 'Clear filters' }))
    .click();
  await page.waitForURL('**/audit');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ]);
  const file = await readFile(await download.path(), 'utf8');
  expect(file.split('\r\n')[0]).toBe('time,time_utc,actor,actor_name,action,subject,before,after,address,id');
  expect(file).toContain('management-key.create');
  expect(file).not.toContain(secret);
  expect(await page.title()).toMatch(/^Audit log · .+ · Model Gateway$/);

  const viewer = await addPerson(db, home.slug, 'viewer');
  await enter(context, viewer);
  await page.goto(`/${home.slug}/management-keys`);
  await expect(page.getByText('Your role is viewer')).toBeVisible();
  await page.goto(`/${home.slug}/settings`);
  await expect(page.getByRole('button', { name: 'Save' }).first()).toBeDisabled();
  await expect(page.getByRole('button', { name: 'Delete workspace' })).toHaveCount(0);
});
