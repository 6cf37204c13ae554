import { expect } from 'playwright/test';
import { makeHome, openKeys, test } from '#tests/console/home';
import { callGateway, closeSecret, createKey } from '#tests/console/visit';

test('a new key makes a call that is in the log, and once disabled, its next call is refused', async ({
  page,
  home,
}) => {
  await openKeys(page, home);
  const name = 'first path';
  const key = await createKey(page, name);
  await closeSecret(page);
  const row = page.getByRole('row').filter({ hasText: name });
  await expect(row).toContainText('Active');
  await expect(row).toContainText(`${key.slice(0, 7)}…${key.slice(-4)}`);

  const answer = await callGateway(key);
  expect(answer.status).toBe(200);
  const requestId = answer.headers.get('x-request-id') ?? '';
  expect(requestId).not.toBe('');

  await page.getByRole('navigation', { name: 'Workspace' }).getByRole('link', { name: 'Logs' }).click();
  const search = page.getByRole('searchbox', { name: /Request id/ });
  await expect(async () => {
    await search.fill(requestId);
    await search.press('Enter');
    await page.getByRole('button', { name: 'Show new calls' }).click();
    await expect(page.getByRole('table').getByRole('row')).toHaveCount(2, { timeout: 5_000 });
  }).toPass({ timeout: 120_000 });
  await expect(page).toHaveURL(new RegExp(`id=${requestId}`));
  const call = page.getByRole('row').filter({ hasText: name });
  await expect(call).toContainText('sandbox/echo');
  await expect(call).toContainText('200');

  await call.getByRole('link').click();
  await expect(page).toHaveURL(new RegExp(`/${home.slug}/logs/${requestId}$`));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Call ${requestId}`);
  const attempts = page.getByRole('region', { name: 'Attempts' }).getByRole('listitem');
  await expect(attempts).toHaveCount(1);
  await expect(attempts).toContainText('sandbox');
  const upstreamId = answer.headers.get('x-upstream-request-id') ?? 'none';
  await expect(attempts).toContainText(upstreamId);

  await page.goto(`/${home.slug}/keys`);
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await expect(page.getByText(`${name} disabled`)).toBeVisible();
  const refused = await callGateway(key);
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'apikey_inactive' } });
  await expect(row).toContainText('Disabled');

  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Enable' }).click();
  await expect(page.getByText(`${name} enabled`)).toBeVisible();
  expect((await callGateway(key)).status).toBe(200);
});

test('an unknown request id and one of another workspace show the same page', async ({ page, home, db }) => {
  const others = await makeHome(db);
  const unknown = await page.goto(`/${home.slug}/logs/01900000-0000-7000-8000-000000000000`);
  expect(unknown?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Page not found');
  // Inside the console, from which the next page is one press away.
  await expect(page.getByRole('link', { name: 'API keys' })).toBeVisible();
  const foreign = await page.goto(`/${others.slug}/logs/01900000-0000-7000-8000-000000000000`);
  expect(foreign?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Page not found');
});
