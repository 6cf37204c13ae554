import { readFile } from 'node:fs/promises';
import { expect, type Page } from 'playwright/test';
import { makeHome, makeKey, test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';
import { setPolicy } from '#tests/support/control/operate';

async function exported(page: Page): Promise<string[]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).press('Enter'),
  ]);
  const text = await readFile(await download.path(), 'utf8');
  return text.trimEnd().split('\r\n').slice(1);
}

test('the live log shows new calls without moving the list, and exports the filtered calls', async ({
  page,
  home,
  db,
}) => {
  const key = await makeKey(db, home, 'tail');
  await page.goto(`/${home.slug}/logs`);
  await page.getByRole('button', { name: 'Live' }).click();
  await expect(page.getByText('Waiting for the first matching call')).toBeVisible();
  await callGateway(key);
  const rows = page.getByRole('table').getByRole('row');
  await expect(rows).toHaveCount(2);
  // While the pointer is on a row, the row stays, and new calls are announced.
  await rows.nth(1).hover();
  for (const model of ['sandbox/echo', 'nobody/nothing']) await callGateway(key, model);
  await expect(page.getByRole('button', { name: '2 new calls' })).toBeVisible();
  await expect(rows).toHaveCount(2);
  await page.getByRole('button', { name: '2 new calls' }).click();
  await expect(rows).toHaveCount(4);
  await page.context().setOffline(true);
  // The balance beside the page also says so after its next request.
  const list = page.getByRole('main');
  await expect(list.getByText('connection lost, reconnecting')).toBeVisible();
  await page.context().setOffline(false);
  await expect(list.getByText('live', { exact: true })).toBeVisible();

  expect(await exported(page)).toHaveLength(3);
  await page.goto(`/${home.slug}/logs?status=4xx`);
  await expect(rows).toHaveCount(2);
  const [refused, ...more] = await exported(page);
  expect(more).toEqual([]);
  expect(refused).toContain('model_not_allowed');
});

test('a pasted request id opens its call, and another workspace’s id opens none, by keyboard only', async ({
  page,
  home,
  db,
}) => {
  const others = await makeHome(db);
  await page.goto(`/${home.slug}/keys`);
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  const box = page.getByRole('combobox', { name: 'Search or paste a request id' });
  await page.keyboard.press('Control+k');
  await expect(box).toBeFocused();
  await page.keyboard.type('create');
  await page.keyboard.press('Enter');
  await page.getByLabel('Name', { exact: true }).fill('by keyboard');
  await page.keyboard.press('Enter');
  const key = (await page.getByTestId('secret').textContent()) ?? '';
  await expect(page.getByRole('button', { name: 'I’ve saved it' })).toBeEnabled();
  await page.getByRole('button', { name: 'I’ve saved it' }).press('Enter');
  await expect(page.getByTestId('secret')).toHaveCount(0);
  const answer = await callGateway(key);
  const id = answer.headers.get('x-request-id') ?? '';
  await expect(async () => {
    await page.goto(`/${home.slug}/logs`);
    await expect(page.getByRole('table').getByRole('row')).toHaveCount(2, { timeout: 2_000 });
  }).toPass({ timeout: 120_000 });

  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox', { name: /^Request id/ })).toBeFocused();
  await page.keyboard.type('?/');
  await expect(page.getByRole('searchbox', { name: /^Request id/ })).toHaveValue('?/');

  await page.keyboard.press('Control+k');
  await box.fill(id);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/${home.slug}/logs/${id}$`));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Call ${id}`);

  await db.prisma.call.updateMany({ where: { id }, data: { clientRequestId: 'order-1042' } });
  await page.keyboard.press('Control+k');
  await box.fill(id.replace(/.$/, (last) => (last === '0' ? '1' : '0')));
  await page.keyboard.press('Enter');
  await expect(page.getByText('No call in this workspace has this id.')).toBeVisible();
  await box.fill('order-1042');
  await page.getByRole('option', { name: 'Find the call order-1042' }).waitFor();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Call ${id}`);
  const foreign = await page.request.get(`/${others.slug}/find?id=${id}`);
  expect(foreign.status()).toBe(404);
});

test('columns can be chosen by keyboard only, and are applied from the first response of the next visit', async ({
  page,
  home,
  db,
}) => {
  await callGateway(await makeKey(db, home, 'columns'));
  const address = `/${home.slug}/logs`;
  await expect(async () => {
    await page.goto(address);
    await expect(page.getByRole('table').getByRole('row')).toHaveCount(2, { timeout: 2_000 });
  }).toPass({ timeout: 120_000 });
  const heads = page.getByRole('columnheader');
  await page.getByRole('button', { name: 'Columns' }).press('Enter');
  await page.getByRole('menuitemcheckbox', { name: 'Latency' }).press('Space');
  await expect(heads.filter({ hasText: 'Latency' })).toHaveCount(0);
  await page.getByRole('menuitemcheckbox', { name: 'Operation' }).press('Space');
  await expect(heads).toHaveText([
    ...['Time', 'Status', 'Model and provider', 'Operation', 'Tokens', 'Cost'],
    'Key and request id',
  ]);
  const first = async () => (await page.request.get(address)).text();
  await expect.poll(first).toContain('Operation</th>');
  expect(await first()).not.toContain('Latency</th>');
  // The file always has the same columns.
  expect(await (await page.request.get(`${address}/export`)).text()).toMatch(/^[^\r]*latency/);
});

test('the list shows that a call fell back, and its page why each attempt ended', async ({
  page,
  home,
  db,
}) => {
  const policy = { fallbackModels: ['sandbox/echo'] };
  await setPolicy(db, { workspace: home.slug, policy });
  const answer = await callGateway(await makeKey(db, home, 'fallback'), 'sandbox/fault-status-500');
  expect(answer.status).toBe(200);
  const rows = page.getByRole('table').getByRole('row');
  await expect(async () => {
    await page.goto(`/${home.slug}/logs`);
    await expect(rows).toHaveCount(2, { timeout: 2_000 });
  }).toPass({ timeout: 120_000 });
  const row = rows.nth(1);
  for (const told of ['sandbox/fault-status-500', 'sandbox/echo', '2 tries'])
    await expect(row).toContainText(told);
  await row.getByRole('link').first().click();
  const tries = page.getByRole('region', { name: 'Attempts' }).getByRole('listitem');
  await expect(tries).toHaveCount(2);
  await expect(tries.first()).toContainText('500');
  for (const one of [tries.first(), tries.last()]) await expect(one).toContainText('provider’s id');
  await expect(tries.last()).toContainText(answer.headers.get('x-upstream-request-id') ?? 'none');
});

test('repeated refusals are collapsed into one row, which opens', async ({ page, home, db }) => {
  const key = await makeKey(db, home, 'stubborn');
  await callGateway(key);
  for (let call = 0; call < 3; call += 1) await callGateway(key, 'nobody/nothing');
  const rows = page.getByRole('table').getByRole('row');
  const fold = page.getByRole('button', { name: '3 refused, model_not_allowed' });
  await expect(async () => {
    await page.goto(`/${home.slug}/logs`);
    await expect(fold).toHaveAttribute('aria-expanded', 'false', { timeout: 2_000 });
    await expect(rows).toHaveCount(3, { timeout: 2_000 });
  }).toPass({ timeout: 120_000 });
  await fold.press('Enter');
  await expect(fold).toHaveAttribute('aria-expanded', 'true');
  await expect(rows).toHaveCount(6);
  await fold.press('Enter');
  await expect(rows).toHaveCount(3);
});
