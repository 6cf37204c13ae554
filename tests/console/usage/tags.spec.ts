import { expect, type Page } from 'playwright/test';
import { endUserName, tagIdOf } from '#lib/core/facts/tags';
import { expectAccessibleInEachLook, expectNothingWider } from '#tests/console/accessible';
import { type Home, makeKey, test } from '#tests/console/home';
import { started } from '#tests/console/visit';
import { setWorkspace } from '#tests/support/control/operate';

type Db = Parameters<typeof setWorkspace>[0];

/** One call for an end user and a feature. */
async function callFor(key: string, user: string): Promise<number> {
  const answer = await fetch(`${started('URL')}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-gateway-tags': 'feature=search',
    },
    body: JSON.stringify({ model: 'sandbox/echo', user, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const body = await answer.text();
  if (answer.status >= 500) throw new Error(`${answer.status}: ${body}`);
  return answer.status;
}

/** As if values of a tag had been spent: $0.01 the first, $0.02 the second, and so on. */
async function spend(db: Db, { id: workspaceId }: Home, name: string, values: readonly string[]) {
  const tags = values.map((value) => ({
    id: tagIdOf(workspaceId, { name, value }),
    workspaceId,
    name,
    value,
  }));
  await db.prisma.tag.createMany({ data: tags });
  await db.prisma.tagQuarter.createMany({
    data: tags.map(({ id: tagId }, at) => ({
      ...{ tagId, workspaceId, calls: 1, costNano: BigInt(at + 1) * 10_000_000n },
      quarter: new Date(Math.floor(Date.now() / 900_000) * 900_000),
    })),
  });
}

const firstCells = (page: Page) =>
  page.getByRole('table').locator('tbody tr').locator('td:first-child').getByRole('link');

test('usage by end user and by tag is sorted, paged and searched, has a file, and links to the calls in the log (contract: tags/usage)', async ({
  page,
  home,
  db,
}) => {
  await setWorkspace(db, { workspace: home.slug, tags: true, endUsers: true });
  const users = Array.from({ length: 60 }, (_, at) => `user-${String(at + 1).padStart(2, '0')}`);
  await spend(db, home, endUserName, users);
  expect(await callFor(await makeKey(db, home, 'tagged'), '=formula')).toBe(200);
  await page.goto(`/${home.slug}/usage`);
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('By end user');
  await expect(page).toHaveURL(/\/usage\/tags/);
  await expect(firstCells(page).first()).toHaveText('user-60');
  await expect(page.getByRole('row').filter({ hasText: 'after these' })).toContainText('end users');
  await page.getByRole('link', { name: 'More' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'user-01' })).toContainText('$0.01');
  await page.getByRole('link', { name: 'End user', exact: true }).click();
  await expect(page).toHaveURL(/sort=value/);
  await expect(page).not.toHaveURL(/after=/);
  await page.getByRole('searchbox', { name: 'Search end users' }).fill('USER-4');
  await page.getByRole('searchbox', { name: 'Search end users' }).press('Enter');
  await expect(firstCells(page)).toHaveCount(10);

  await expect(async () => {
    const file = await page.request.get(`/${home.slug}/usage/tags/csv`);
    const lines = (await file.text()).split('\r\n');
    expect(lines[0]).toBe('end_user,calls,errors,refused,input_tokens,output_tokens,cost_usd');
    expect(lines[1]).toBe('user-60,1,0,0,0,0,0.6');
    expect(lines.slice(2).some((line) => line.startsWith("'=formula,1,"))).toBe(true);
    expect(lines).toHaveLength(63);
  }).toPass({ timeout: 60_000 });
  await page.goto(`/${home.slug}/usage/tags?by=tag`);
  await expect(page.getByRole('combobox', { name: 'Group by' })).toHaveValue('tag=feature');
  await page.getByRole('table').getByRole('link', { name: 'search', exact: true }).click();
  await expect(page).toHaveURL(/\/logs\?tag=feature%3Dsearch&from=/);
  await expect(page.getByText(/1 call, /)).toBeVisible();
  await page.getByRole('table').locator('tbody').getByRole('link').first().click();
  await expect(page.getByRole('heading', { name: 'For whom' })).toBeVisible();
  await page.getByRole('link', { name: 'Budget and spend of feature=search' }).click();
  await expect(page.getByRole('heading', { name: 'feature=search' })).toBeVisible();
});

test('budgets of end users are added, looked up, changed and deleted, and the page says what is refused (contract: tags/budgets, tags/spent)', async ({
  page,
  home,
  db,
}) => {
  await spend(db, home, endUserName, ['user-1', 'user-2']);
  await page.goto(`/${home.slug}/tag-budgets`);
  await expect(page.getByText('Neither end users nor tags are recorded')).toBeVisible();
  await setWorkspace(db, { workspace: home.slug, tags: true, endUsers: true });
  await page.reload();
  await expect(page.getByRole('heading', { name: 'No budgets yet' })).toBeVisible();

  await page.getByRole('button', { name: 'Add budget' }).click();
  const form = page.getByRole('dialog', { name: 'Add a budget' });
  await form.getByLabel('Per day').fill('0.015');
  await form.getByRole('button', { name: 'Add budget' }).click();
  const list = page.getByRole('table');
  await expect(list.getByRole('row').filter({ hasText: 'Each end user' })).toContainText('$0.015');

  const box = page.getByRole('searchbox', { name: 'Id of an end user' });
  await box.fill('user-2');
  await box.press('Enter');
  await expect(page.getByText(/^Refused until /)).toBeVisible();
  await expect(page.getByText('402 day_limit_reached')).toBeVisible();
  await expectAccessibleInEachLook(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNothingWider(page);
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.getByRole('button', { name: 'Set a budget of its own' }).click();
  await expect(form.getByLabel('End user')).toHaveValue('user-2');
  await form.getByLabel('End user').fill('');
  await form.getByRole('button', { name: 'Add budget' }).click();
  await expect(form.getByText('Write whose budget it is.')).toBeVisible();
  await form.getByLabel('End user').fill('user-2');
  await form.getByLabel('Per day').fill('1');
  await form.getByRole('button', { name: 'Add budget' }).click();
  const own = list.getByRole('row').filter({ hasText: 'user-2' });
  await expect(own).toContainText('$0.02 of $1.00');
  await expect(own).toContainText('Has room');

  await page.getByRole('button', { name: 'Edit budget of user-2' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit budget of user-2' });
  await edit.getByLabel('Per day').fill('0.02');
  await edit.getByRole('button', { name: 'Save changes' }).click();
  await expect(own).toContainText('Refused');
  await page.getByRole('button', { name: 'Delete budget of user-2' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete budget' }).click();
  await expect(page.getByText('Budget deleted')).toBeVisible();
  await expect(own).toHaveCount(0);
});
