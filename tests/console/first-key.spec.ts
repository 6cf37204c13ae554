import { expect, test } from '@playwright/test';
import { callGateway, closeSecret, createKey, signIn } from '#tests/console/visit';

test('the first key of a workspace stays on show while the empty page turns into a list', async ({
  page,
}) => {
  await signIn(page, 'others@example.com', 'somewhere else', 'other-people');
  await expect(page.getByRole('heading', { name: 'No keys yet' })).toBeVisible();
  const key = await createKey(page, 'very first');
  await expect(page.getByRole('heading', { name: 'No keys yet' })).toHaveCount(0);
  await expect(page.getByText('very first').first()).toBeAttached();
  await expect(page.getByTestId('secret')).toHaveText(key);
  expect((await callGateway(key)).status).toBe(200);
  await closeSecret(page);
  await expect(page.getByRole('row').filter({ hasText: 'very first' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Create key' })).toBeFocused();
});

test('the ready-made call names a model that can be called now', async ({ page }) => {
  await signIn(page);
  await createKey(page, 'example');
  await expect(page.getByRole('dialog')).toContainText('"model":"sandbox/');
});
