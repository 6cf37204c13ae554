import { setTimeout as pause } from 'node:timers/promises';
import { expect, type Page } from 'playwright/test';
import { makeKey, test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';

/** The figures in a row of the table of totals: requests and cost. */
async function rowOf(page: Page, name: string): Promise<{ calls: string; cost: string }> {
  const cells = page.getByRole('row').filter({ hasText: name }).getByRole('cell');
  const texts = await cells.allTextContents();
  return { calls: texts.at(-2) ?? '', cost: texts.at(-1) ?? '' };
}

test.beforeEach(async () => {
  // Bars and totals are per day: a test must not run across midnight.
  const untilMidnightMs = 24 * 3_600_000 - (Date.now() % (24 * 3_600_000));
  if (untilMidnightMs < 180_000) await pause(untilMidnightMs);
});

test('the overview links to usage, and the tallest bar to exactly its calls in the log', async ({
  page,
  home,
  db,
}) => {
  const [many, few] = [await makeKey(db, home, 'many calls'), await makeKey(db, home, 'few calls')];
  for (let n = 0; n < 5; n++) expect((await callGateway(many)).status).toBe(200);
  for (let n = 0; n < 2; n++) expect((await callGateway(few)).status).toBe(200);
  expect((await callGateway(few, 'no/such-model')).status).toBe(400);
  const requests = page.getByRole('region', { name: 'Last 7 days' }).getByRole('link', { name: /^Requests/ });
  await expect(async () => {
    await page.goto(`/${home.slug}`);
    await expect(requests).toContainText('8', { timeout: 1_500 });
  }).toPass({ timeout: 120_000 });
  await requests.click();
  await expect(page.getByRole('heading', { name: /^Requests by model/ })).toBeVisible();

  await page.getByRole('combobox', { name: 'Group by' }).selectOption('By API key');
  await expect(page).toHaveURL(/by=key/);
  await expect(page.getByRole('heading', { name: /^Requests by API key/ })).toBeVisible();
  await expect.poll(() => rowOf(page, 'Total')).toMatchObject({ calls: '8' });
  await expect.poll(() => rowOf(page, 'many calls')).toMatchObject({ calls: '5' });
  const row = await rowOf(page, 'many calls');
  const bars = page.locator('.recharts-bar-rectangle path');
  await expect(bars.first()).toBeVisible();
  const heights = await bars.evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().height));
  await bars.nth(heights.indexOf(Math.max(...heights))).click();
  await expect(page).toHaveURL(/\/logs\?usage=counted&key=.*&from=.*&to=/);
  await expect(page.getByText(`5 calls, ${row.cost}.`)).toBeVisible();

  await page.goBack();
  await expect(page.getByRole('heading', { name: /^Requests by API key/ })).toBeVisible();
});

test('a metric, a custom range and the calls of a figure can be reached by keyboard only', async ({
  page,
  home,
  db,
}) => {
  const key = await makeKey(db, home, '=formula');
  expect((await callGateway(key)).status).toBe(200);
  expect((await callGateway(key, 'no/such-model')).status).toBe(400);
  const errors = page.getByRole('navigation', { name: 'Figures' }).getByRole('link', { name: /^Errors/ });
  await expect(async () => {
    await page.goto(`/${home.slug}/usage?by=key&table=time`);
    await expect(errors).toContainText('50%', { timeout: 1_500 });
  }).toPass({ timeout: 120_000 });
  await errors.press('Enter');
  await expect(page.getByRole('heading', { name: /^Errors by API key/ })).toBeVisible();
  const range = page.getByRole('combobox', { name: 'Range' });
  await range.focus();
  await range.press('End');
  await expect(page).toHaveURL(/from=.*&to=/);
  await page.getByLabel('First day').press('Tab');

  const file = await page.request.get(`/${home.slug}/usage/csv?by=key&range=today`);
  expect(file.headers()['content-type']).toContain('text/csv');
  const [head, line] = (await file.text()).split('\r\n');
  expect(head).toMatch(/^start,start_utc,end,end_utc,key,key_name,calls,errors,/);
  expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\+00:00,\d.*,'=formula,2,1,1,/);

  await page
    .getByRole('region', { name: 'Errors over time' })
    .getByRole('link', { name: '1' })
    .first()
    .press('Enter');
  await expect(page).toHaveURL(/\/logs\?.*outcome=error/);
  await expect(page.getByText('1 call, $0.00.')).toBeVisible();
});
