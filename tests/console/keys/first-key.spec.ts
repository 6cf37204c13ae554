import { expect } from '@playwright/test';
import { openKeys, test } from '#tests/console/home';
import { callGateway, closeSecret, createKey, expectFocusStaysAtSecret } from '#tests/console/visit';

test('the first key of a workspace stays on show while the empty page turns into a list', async ({
  page,
  home,
}) => {
  await openKeys(page, home);
  await expect(page.getByRole('heading', { name: 'No keys yet' })).toBeVisible();
  const key = await createKey(page, 'very first');
  await expectFocusStaysAtSecret(page);
  await expect(page.getByRole('heading', { name: 'No keys yet' })).toHaveCount(0);
  await expect(page.getByText('very first').first()).toBeAttached();
  await expect(page.getByTestId('secret')).toHaveText(key);
  expect((await callGateway(key)).status).toBe(200);
  await closeSecret(page);
  await expect(page.getByRole('row').filter({ hasText: 'very first' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Create key' })).toBeFocused();
});

test('the ready-made call names a model that can be called now', async ({ page, home }) => {
  await openKeys(page, home);
  await createKey(page, 'example');
  await expect(page.getByRole('dialog')).toContainText('"model":"sandbox/');
});
