import { randomBytes } from 'node:crypto';
import { expect } from 'playwright/test';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { listProposals, updateCatalogue } from '#lib/control/operations/catalogue/update';
import { listPrices } from '#lib/control/operations/price/operations';
import { test } from '#tests/console/home';
import { operate } from '#tests/support/control/operate';

test('an operator accepts some proposals of the price tables, dismisses others, and is told of one that has changed', async ({
  page,
  home,
  db,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  const own = `mistral-${randomBytes(4).toString('hex')}`;
  const text = `providers: [{ id: ${own}, name: Own, families: { chat: "https://api.mistral.ai/v1" }, credential: none }]
models:
  - { id: ${own}/a, name: A, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: ${own}, upstreamModel: ${own}-a, families: [chat], price: { input: "2", output: "8" } }] }
`;
  await operate(db, applyCatalogue, { files: [{ name: 'own.yaml', text }] });
  const read = (input: number) => {
    const models = {
      [`${own}-a`]: { id: `${own}-a`, cost: { input, output: 8 }, mood: 'good' },
      [`${own}-b`]: {
        id: `${own}-b`,
        name: 'Beta',
        cost: { input: 1, output: 2 },
        limit: { context: 9000, output: 900 },
      },
    };
    const table = JSON.stringify({ mistral: { id: 'mistral', models } });
    return operate(db, updateCatalogue, { from: { name: 'api.json', text: table } });
  };
  await read(3);

  await page.goto('/operator/price-updates');
  const tables = page.getByRole('region', { name: 'Price tables' });
  await expect(tables.getByText('1 unknown field')).toBeVisible();
  const prices = page.getByRole('region', { name: 'Changed prices' });
  const fresh = page.getByRole('region', { name: `New models of ${own}` });
  await expect(prices).toContainText('$2 in, $8 out → $3 in, $8 out');
  await expect(fresh).toContainText('$1 in, $2 out');

  // Someone else reads a newer table meanwhile.
  await prices.getByLabel(`${own}/a at ${own}`).check();
  await read(4);
  await page.getByRole('button', { name: 'Accept 1' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Accept' }).click();
  await expect(page.getByText('this proposal is no longer current')).toBeVisible();
  await page.reload();
  await expect(prices).toContainText('$2 in, $8 out → $4 in, $8 out');
  await prices.getByLabel(`${own}/a at ${own}`).check();
  await page.getByRole('button', { name: 'Accept 1' }).click();
  await dialog.getByRole('button', { name: 'Accept' }).click();
  await expect(page.getByText('1 proposal accepted')).toBeVisible();
  const { data } = await operate(db, listPrices, { model: `${own}/a` });
  expect(data.map(({ text: price }) => price)).toEqual(['$4 in, $8 out', '$2 in, $8 out']);

  await fresh.getByLabel(`at ${own}`).first().check();
  await page.getByRole('button', { name: 'Dismiss 1' }).click();
  await dialog.getByRole('button', { name: 'Dismiss' }).click();
  await expect(fresh).toHaveCount(0);
  await page.getByRole('link', { name: /dismissed proposal/ }).click();
  await expect(fresh).toContainText('$1 in, $2 out');

  await tables.getByLabel('Check every day').check();
  const daily = async () => (await operate(db, listProposals, {})).tables.some((table) => table.daily);
  await expect.poll(daily).toBe(true);
  await page.reload();
  await expect(tables.getByLabel('Check every day')).toBeChecked();
  await tables.getByLabel('Check every day').uncheck();
});
