import { expect } from 'playwright/test';
import { makeKey, test } from '#tests/console/home';
import { callGateway, started } from '#tests/console/visit';

test('a visitor can find a model, reload with the filter kept, and copy an example with this gateway’s address', async ({
  page,
}) => {
  await page.goto('/models');
  await page.getByRole('searchbox', { name: 'Search models' }).fill('echo');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/models\?search=echo$/);
  await page.getByRole('combobox', { name: 'Availability' }).selectOption('All models');
  await expect(page).toHaveURL(/available=all/);
  await page.reload();
  await expect(page.getByRole('searchbox', { name: 'Search models' })).toHaveValue('echo');
  await expect(page.getByRole('table').getByRole('link', { name: 'Echo', exact: true })).toBeVisible();
  await page.getByRole('table').getByRole('link', { name: 'Echo', exact: true }).click();
  await expect(page).toHaveURL(/\/models\/sandbox\/echo$/);
  await expect(page.getByRole('tabpanel')).toContainText(`curl ${started('URL')}/v1/chat/completions`);
  await expect(page.getByRole('tabpanel')).toContainText('"model":"sandbox/echo"');
  // The public page shows neither the performance of a provider nor the names of variables.
  await expect(page.getByText('Latency')).toHaveCount(0);
  await page.goto('/models/openai/gpt-4.1');
  await expect(page.getByText('Not set up').first()).toBeVisible();
  await expect(page.locator('body')).not.toContainText('OPENAI_API_KEY');
});

test('a retired model is in no list, and its page says since when', async ({ page }) => {
  await page.goto('/models?search=o3-mini');
  await expect(page.getByRole('link', { name: 'o3-mini' })).toHaveCount(0);
  await page.goto('/models/openai/o3-mini');
  await expect(page.getByText('Retired 23 Oct 2026')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Offers' })).toContainText(
    'No provider serves this model any more, and calls to it are refused. OpenAI retired it on 23 Oct 2026.',
  );
  await expect(page.getByRole('region', { name: 'Protocols and parameters' })).toHaveCount(0);
});

test('two models can be compared, and the sort order is in the address', async ({ page }) => {
  await page.goto('/models?provider=sandbox&sort=-context');
  await expect(page.getByRole('columnheader', { name: 'Context' })).toHaveAttribute(
    'aria-sort',
    'descending',
  );
  await page.goto('/models?provider=sandbox');
  await page.getByRole('checkbox', { name: 'Compare Mini', exact: true }).press('Space');
  await expect(page.getByRole('heading', { name: 'Comparison of 1' })).toBeVisible();
  await page.getByRole('checkbox', { name: 'Compare Echo', exact: true }).press('Space');
  await expect(page.getByRole('heading', { name: 'Comparison of 2' })).toBeVisible();
  await page.getByRole('link', { name: 'Remove Mini from the comparison' }).press('Enter');
  await expect(page).toHaveURL(/compare=sandbox%2Fecho$/);
});

test('a member sees which models a key may call, and how an offer performed for the workspace', async ({
  page,
  home,
  db,
}) => {
  const key = await makeKey(db, home, 'catalogue');
  const id = (await callGateway(key, 'sandbox/mini')).headers.get('x-request-id') ?? '';
  await expect(async () => {
    expect((await page.goto(`/${home.slug}/logs/${id}`))?.status()).toBe(200);
  }).toPass({ timeout: 120_000 });
  await page.goto(`/${home.slug}/models`);
  await page.getByRole('combobox', { name: 'Key', exact: true }).selectOption('Allowed for catalogue');
  await expect(page).toHaveURL(/key=/);
  await expect(page.getByText('Not available')).toHaveCount(0);
  const headers = { authorization: `Bearer ${key}` };
  // Another test may add a model to the catalogue between the two answers.
  await expect(async () => {
    await page.reload();
    const listed = (await (await fetch(`${started('URL')}/v1/models`, { headers })).json()) as {
      data: unknown[];
    };
    const count = listed.data.length;
    await expect(page.getByText(`${count} models, ${count} available here.`)).toBeVisible({ timeout: 2_000 });
  }).toPass();
  await page.goto(`/${home.slug}/models/sandbox/mini`);
  await expect(page.getByRole('row', { name: /Simulated provider/ })).toContainText('100.00% of 1');
  await page.getByRole('link', { name: 'View calls' }).click();
  await expect(page.getByRole('table').getByRole('link')).not.toHaveCount(0);
});

test('every page of the documentation is public and links to the next', async ({ page }) => {
  await page.goto('/docs');
  await expect(page).toHaveURL(/\/docs\/quickstart$/);
  await expect(page.getByText(`baseURL: '${started('URL')}/v1'`).first()).toBeVisible();
  const visited = new Set<string>();
  const next = page
    .getByRole('navigation', { name: 'Previous and next page' })
    .getByRole('link', { name: /^Next/ });
  while ((await next.count()) > 0) {
    visited.add(page.url());
    const title = (await next.textContent())?.replace(/^Next/, '') ?? '';
    await next.click();
    await expect(page.getByRole('heading', { level: 1, name: title, exact: true })).toBeVisible();
  }
  expect(visited.size).toBe(22);
  await page.goto('/docs/management-api');
  await expect(page.getByText('/api/v1/workspaces/{workspace}/keys', { exact: true }).first()).toBeVisible();
  await page.goto('/docs/errors#insufficient_balance');
  await expect(page.locator('#insufficient_balance')).toBeInViewport();
});
