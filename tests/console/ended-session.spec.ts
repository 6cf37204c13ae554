import { expect, test } from '@playwright/test';
import { closeSecret, createKey, fillSignIn, signIn } from '#tests/console/visit';

test('a form outlives its session: sign in beside it, press again, nothing typed is lost', async ({
  page,
  context,
}) => {
  await signIn(page);
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  await form.getByLabel('Name', { exact: true }).fill('outlives');
  await context.clearCookies();
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(form.getByRole('alert')).toContainText('Your session has ended; nothing was changed.');
  const opening = context.waitForEvent('page');
  await form.getByRole('link', { name: 'Sign in in a new tab' }).click();
  const second = await opening;
  await fillSignIn(second);
  await second.waitForURL('**/demo/keys');
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(page.getByTestId('secret')).toBeVisible();
  await closeSecret(page);
  await expect(page.getByRole('row').filter({ hasText: 'outlives' })).toBeVisible();
});

test('a switch without a session leads to the sign-in page and back', async ({ page, context }) => {
  await signIn(page);
  await createKey(page, 'unattended');
  await closeSecret(page);
  await context.clearCookies();
  await page.getByRole('button', { name: 'Actions for unattended' }).click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await expect(page.getByText('Your session has ended; nothing was changed.')).toBeVisible();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL(/\/sign-in\?callbackUrl=%2Fdemo%2Fkeys$/);
  await fillSignIn(page);
  await expect(page.getByRole('row').filter({ hasText: 'unattended' })).toContainText('Active');
});

test('without an answer the form stays and says that nobody knows', async ({ page, context }) => {
  await signIn(page);
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  await form.getByLabel('Name', { exact: true }).fill('unheard');
  await context.setOffline(true);
  await form.getByRole('button', { name: 'Create key' }).click();
  await expect(form.getByRole('alert')).toContainText('No answer came');
  await expect(form.getByLabel('Name', { exact: true })).toHaveValue('unheard');
  await context.setOffline(false);
});
