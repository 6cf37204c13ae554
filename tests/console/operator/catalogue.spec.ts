import { randomBytes } from 'node:crypto';
import { expect } from 'playwright/test';
import { makeKey, test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';

test('an operator adds and removes credentials, tests one, previews and sets prices, by keyboard only', async ({
  page,
  home,
  db,
}) => {
  const key = await makeKey(db, home, 'priced');
  expect((await callGateway(key, 'sandbox/priced-cache')).status).toBe(200);
  expect((await page.goto('/operator/providers'))?.status()).toBe(404);

  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  const own = `own-${randomBytes(4).toString('hex')}`;
  await page.goto('/operator');
  await page.waitForURL('**/operator/**');
  await page
    .getByRole('navigation', { name: 'Operator' })
    .getByRole('link', { name: 'Catalogue files' })
    .press('Enter');
  const file = (input: string) => ({
    name: 'own.yaml',
    mimeType: 'application/yaml',
    buffer:
      Buffer.from(`providers: [{ id: ${own}, name: Own ${own}, families: { chat: { env: SANDBOX_URL } } }]
models:
  - { id: ${own}/m, name: Own, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: ${own}, upstreamModel: echo, families: [chat], price: { input: "${input}", output: "4" } }] }
`),
  });
  const files = page.getByRole('region', { name: 'Your files' });
  await files.getByLabel('Catalogue files').setInputFiles(file('1'));
  await expect(files.getByText(`+ provider ${own}`)).toBeVisible();
  await files.getByRole('button', { name: 'Apply 3 changes' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).press('Enter');
  await expect(files.getByText('These files match the gateway’s catalogue.')).toBeVisible();
  await files.getByLabel('Catalogue files').setInputFiles(file('2'));
  await expect(files.getByRole('region', { name: `Price of ${own}/m` })).toContainText('Calls in 7 days');

  await page.goto('/operator/providers');
  const row = page.getByRole('row').filter({ hasText: `Own ${own}` });
  await expect(row).toContainText('Missing');
  await row.getByRole('button', { name: 'Set credential default' }).press('Enter');
  const secret = `sk-${randomBytes(24).toString('hex')}`;
  await page.getByLabel('Credential', { exact: true }).fill(secret);
  await page.keyboard.press('Enter');
  await expect(row).toContainText('Not tested');
  await expect(row).toContainText('Stored, encrypted');
  await expect(row.getByRole('button', { name: 'Edit credential default' })).toBeFocused();
  await row.getByRole('button', { name: 'Test' }).press('Enter');
  // The simulated provider takes its own key alone.
  await expect(row).toContainText('Fails');
  await expect(row).toContainText('Answered 401');
  await expect(row.getByRole('button', { name: 'Test' })).toBeFocused();
  expect(await page.content()).not.toContain(secret);
  await row.getByRole('button', { name: 'Add a credential' }).press('Enter');
  await page.getByLabel('Name', { exact: true }).fill('second');
  await page.getByLabel('Or an environment variable').fill('NOT_SET_HERE');
  await page.getByLabel('Weight').fill('3');
  await page.keyboard.press('Enter');
  await expect(row).toContainText('Weight 3 · priority 1');
  await row.getByRole('button', { name: 'Edit credential second' }).press('Enter');
  const withdrawing = page.getByRole('dialog');
  await withdrawing.getByRole('button', { name: 'Remove credential' }).press('Enter');
  await withdrawing.getByRole('button', { name: 'Remove credential' }).press('Enter');
  await expect(row).not.toContainText('second');
  await row.getByRole('button', { name: 'Edit credential default' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Remove credential' }).press('Enter');
  await dialog.getByRole('button', { name: 'Remove credential' }).press('Enter');
  await expect(row).toContainText('Missing');

  await page.goto(`/operator/models/${own}/m`);
  const history = page.getByRole('region', { name: `Prices at ${own}`, exact: true });
  const rate = (provider: string, name: string) =>
    page.getByRole('group', { name: `Price at ${provider}` }).getByRole('textbox', { name, exact: true });
  for (const [input, from, state] of [
    ['3', '', 'In effect'],
    ['5', '2199-01-31T00:00', 'Scheduled'],
  ] as const) {
    await expect(async () => {
      await rate(own, 'Input').fill(`$${input}`);
      await page.getByRole('button', { name: 'Preview' }).press('Enter');
      await expect(page.getByLabel('In effect from')).toBeVisible({ timeout: 10_000 });
    }).toPass();
    await page.getByLabel('In effect from').fill(from);
    await page.getByRole('button', { name: 'Set this price' }).press('Enter');
    await dialog.getByRole('button', { name: 'Set price' }).press('Enter');
    await expect(history.getByRole('row').filter({ hasText: `${input} in` })).toContainText(state);
  }
  await history.getByRole('button', { name: 'Withdraw' }).press('Enter');
  await history.getByRole('button', { name: 'Withdraw' }).press('Enter');
  await expect(history).not.toContainText('Scheduled');
  await expect(history.getByRole('row').filter({ hasText: '3 in' })).toContainText('In effect');

  await page.goto('/operator/models/sandbox/priced-cache');
  await expect(page.getByRole('region', { name: 'Prices at sandbox' })).toContainText('In effect');
  const box = rate('sandbox', 'Output');
  await expect(box).toHaveValue('8');
  await expect(async () => {
    await box.fill('$16.00');
    await page.getByRole('button', { name: 'Preview' }).press('Enter');
    await expect(page.getByText('With this price')).toBeVisible({ timeout: 10_000 });
    await expect(page.locator('dl')).toContainText('+$', { timeout: 2_000 });
  }).toPass({ timeout: 120_000 });
  await box.fill('a lot');
  await page.getByRole('button', { name: 'Preview' }).press('Enter');
  await expect(page.getByRole('alert').filter({ hasText: 'decimal string' })).toBeVisible();
});
