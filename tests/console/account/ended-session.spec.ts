import { expect } from 'playwright/test';
import { makeKey, openKeys, test } from '#tests/console/home';
import { closeSecret, fillSignIn } from '#tests/console/visit';

test('a form keeps what was typed when the session ends, and is sent after signing in on a new tab', async ({
  page,
  context,
  home,
}) => {
  await openKeys(page, home);
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  await form.getByLabel('Name', { exact: true }).fill('outlives');
  await context.clearCookies();
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(form.getByRole('alert')).toContainText('Your session has ended; nothing was changed.');
  const opening = context.waitForEvent('page');
  await form.getByRole('link', { name: 'Sign in on a new tab' }).click();
  const second = await opening;
  await second.waitForLoadState();
  await fillSignIn(second, home.owner.email);
  await second.waitForURL(new RegExp(`/${home.slug}(/keys(\\?new=key)?)?$`));
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(page.getByTestId('secret')).toBeVisible();
  await closeSecret(page);
  await expect(page.getByRole('row').filter({ hasText: 'outlives' })).toBeVisible();
});

test('disabling a key without a session leads to the sign-in page and back', async ({
  page,
  context,
  home,
  db,
}) => {
  await makeKey(db, home, 'unattended');
  await openKeys(page, home);
  await context.clearCookies();
  await page.getByRole('button', { name: 'Actions for unattended' }).click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await expect(page.getByText('Your session has ended; nothing was changed.')).toBeVisible();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL(new RegExp(`/sign-in\\?callbackUrl=%2F${home.slug}%2Fkeys$`));
  await fillSignIn(page, home.owner.email);
  await expect(page.getByRole('row').filter({ hasText: 'unattended' })).toContainText('Active');
});

test('a form without a response stays and says that the change may have been made', async ({
  page,
  context,
  home,
}) => {
  await openKeys(page, home);
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  await form.getByLabel('Name', { exact: true }).fill('unheard');
  await context.setOffline(true);
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(form.getByRole('alert')).toContainText('No response from the gateway');
  await expect(form.getByLabel('Name', { exact: true })).toHaveValue('unheard');
  await context.setOffline(false);
});
