import { expect } from 'playwright/test';
import { makeKey, openKeys, test } from '#tests/console/home';
import { callGateway, closeSecret, expectFocusStaysAtSecret } from '#tests/console/visit';

test('a key can be edited and rotated with an overlap, and its page shows its current use', async ({
  page,
  home,
  db,
}) => {
  const old = await makeKey(db, home, 'web');
  await openKeys(page, home);
  await page.getByRole('button', { name: 'Actions for web' }).click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();
  const form = page.getByRole('dialog', { name: 'Edit web' });
  await form.getByLabel('Requests a minute').fill('50');
  await form.getByLabel('Lifetime').fill('2');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'web' })).toContainText('50 RPM');

  await page.getByRole('link', { name: 'web', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'web', level: 1 })).toBeVisible();
  await page.getByRole('button', { name: 'Actions for web' }).click();
  await page.getByRole('menuitem', { name: 'Rotate…' }).click();
  await page.getByRole('dialog', { name: 'Rotate web' }).getByRole('button', { name: '1 hour' }).click();
  await page.getByRole('button', { name: 'Rotate key' }).click();
  const secret = (await page.getByTestId('secret').textContent()) ?? '';
  await expectFocusStaysAtSecret(page);
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('secret')).toHaveText(secret);
  await closeSecret(page);
  await expect(page.getByText('Two secrets work')).toContainText(old.slice(-4));
  for (const one of [old, secret]) expect((await callGateway(one)).status).toBe(200);
  await expect(page.getByRole('img', { name: 'Requests a minute: 4% used' })).toBeVisible();

  await page.getByRole('button', { name: 'Stop the old secret now' }).click();
  await expect(page.getByText('Two secrets work')).toHaveCount(0);
  expect((await callGateway(old)).status).toBe(401);
  expect((await callGateway(secret)).status).toBe(200);
  await expect(page.getByRole('region', { name: 'Changes' })).toContainText('rotated the secret');
  await expect(page.getByRole('region', { name: 'Changes' })).toContainText('Requests a minute: none → 50');
});
