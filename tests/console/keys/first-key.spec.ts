import { expect } from 'playwright/test';
import { makeKey, openKeys, test } from '#tests/console/home';
import { callGateway, closeSecret, createKey, expectFocusStaysAtSecret } from '#tests/console/visit';
import { setWorkspace } from '#tests/support/control/operate';

test('the secret of a workspace’s first key stays visible while the empty page turns into a list', async ({
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

test('the example call of a new key uses a model that can be called', async ({ page, home }) => {
  await openKeys(page, home);
  await createKey(page, 'example');
  await expect(page.getByRole('dialog')).toContainText('"model":"sandbox/');
});

test('the overview of a workspace without funds links to Billing, and later shows its first answered call', async ({
  page,
  home,
  db,
}) => {
  await setWorkspace(db, { workspace: home.slug, credit: '0' });
  await page.goto(`/${home.slug}`);
  const start = page.getByRole('region', { name: 'Get started' });
  await expect(start.getByRole('link', { name: 'Add funds' })).toHaveAttribute(
    'href',
    `/${home.slug}/billing`,
  );
  await setWorkspace(db, { workspace: home.slug, credit: '5' });
  const key = await makeKey(db, home, 'begins');
  expect((await callGateway(key, 'nobody/nothing')).status).toBe(400);
  await expect(start).toContainText('400 model_not_allowed');
  for (const model of ['sandbox/echo', 'sandbox/mini']) await callGateway(key, model);
  await expect(start).toContainText('Your first call succeeded');
  await page.reload();
  await expect(start).toContainText('sandbox/echo, $0.');
});
