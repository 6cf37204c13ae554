import { randomBytes } from 'node:crypto';
import { expect } from 'playwright/test';
import { makeKey, test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';

test('an operator adds and removes a credential, tests a provider, previews and sets prices, by keyboard only', async ({
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
  await row.getByRole('button', { name: 'Credential for' }).press('Enter');
  const secret = `sk-${randomBytes(24).toString('hex')}`;
  await page.getByLabel('Credential', { exact: true }).fill(secret);
  await page.keyboard.press('Enter');
  await expect(row).toContainText('Stored, encrypted');
  await row.getByRole('button', { name: 'Test' }).press('Enter');
  // The simulated provider accepts only its own key.
  await expect(row).toContainText('answered 401');
  expect(await page.content()).not.toContain(secret);
  await row.getByRole('button', { name: 'Credential for' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Remove credential' }).press('Enter');
  await dialog.getByRole('button', { name: 'Remove credential' }).press('Enter');
  await expect(row).toContainText('Missing');

  await page.goto(`/operator/models/${own}/m`);
  const history = page.getByRole('region', { name: `Prices at ${own}`, exact: true });
  for (const [input, from, state] of [
    ['3', '', 'In effect'],
    ['5', '2199-01-31T00:00', 'Scheduled'],
  ] as const) {
    await expect(async () => {
      await page.getByLabel(`Price at ${own}`).fill(JSON.stringify({ input }));
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
  const box = page.getByLabel('Price at sandbox');
  await expect(box).toHaveValue(/"output": "8"/);
  const price = JSON.parse(await box.inputValue());
  await expect(async () => {
    await box.fill(JSON.stringify({ ...price, output: '16' }));
    await page.getByRole('button', { name: 'Preview' }).press('Enter');
    await expect(page.getByText('With this price')).toBeVisible({ timeout: 10_000 });
    await expect(page.locator('dl')).toContainText('+$', { timeout: 2_000 });
  }).toPass({ timeout: 120_000 });
  await box.fill('{ "output": 16 }');
  await page.getByRole('button', { name: 'Preview' }).press('Enter');
  await expect(page.getByRole('alert').filter({ hasText: 'decimal string' })).toBeVisible();
});
