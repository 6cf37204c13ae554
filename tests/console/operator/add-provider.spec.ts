import { randomBytes } from 'node:crypto';
import { expect } from 'playwright/test';
import { expectAccessibleInEachLook } from '#tests/console/accessible';
import { test } from '#tests/console/home';
import { startSandboxProcess } from '#tests/support/provider/process';

test('an operator adds a local server, offers a model free of charge and gets its first answer', async ({
  page,
  home,
  db,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  const local = await startSandboxProcess(undefined, '');
  const own = `lab-${randomBytes(4).toString('hex')}`;
  await page.goto('/operator/providers');
  await page.getByRole('link', { name: 'Add provider' }).click();
  await page.getByRole('link', { name: /^Ollama/ }).click();
  await page.getByLabel('Address', { exact: true }).fill(new URL(local.url).origin);
  await page.getByLabel('Name', { exact: true }).fill('Lab');
  await page.getByLabel('Id', { exact: true }).fill(own);
  await page.getByRole('button', { name: 'Add provider' }).click();
  const models = page.getByRole('region', { name: 'Add models' });
  await models.getByRole('checkbox', { name: /^echo/ }).check();
  await models.getByRole('button', { name: 'Offer 1 model' }).click();
  await expect(models).toContainText('needs a price');
  await models.getByRole('checkbox', { name: 'Selected models are free of charge' }).check();
  await models.getByRole('button', { name: 'Offer 1 model' }).click();
  await expect(models).toContainText(`${own}/echo can be called now.`);
  const row = page
    .getByRole('region', { name: 'Models', exact: true })
    .getByRole('row')
    .filter({ hasText: own });
  await expect(row).toContainText('Free');
  await page.getByRole('button', { name: 'Test credential default of Lab' }).click();
  await expect(page.getByRole('region', { name: 'Credentials' })).toContainText('Works');

  await models.getByRole('link', { name: 'Try in the playground' }).click();
  await page.getByRole('textbox', { name: 'Message' }).fill('A first question');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByRole('main')).toContainText('A first question', { useInnerText: true });
  await expect(async () => {
    const call = await db.prisma.call.findFirstOrThrow({ where: { workspaceId: home.id } });
    expect(call).toMatchObject({ provider: own, status: 200, costNano: 0n });
  }).toPass();
  await local.close();
});

test('an address that does not answer is explained, corrected, and its models are withdrawn and offered again', async ({
  page,
  home,
  db,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  const key = `sk-${randomBytes(16).toString('hex')}`;
  const server = await startSandboxProcess(undefined, key);
  const own = `own-${randomBytes(4).toString('hex')}`;
  await page.goto('/operator/providers/add');
  await expectAccessibleInEachLook(page);
  await page.getByRole('link', { name: /^OpenAI-compatible/ }).click();
  await page.getByRole('button', { name: 'Add provider' }).click();
  await expect(page.getByText('Address is required.')).toBeVisible();
  await page.getByLabel('Address', { exact: true }).fill('http://127.0.0.1:1');
  await page.getByLabel('Credential').fill(key);
  await page.getByLabel('Name', { exact: true }).fill('Own');
  await page.getByLabel('Id', { exact: true }).fill(own);
  await expectAccessibleInEachLook(page);
  await page.getByRole('button', { name: 'Add provider' }).click();
  const models = page.getByRole('region', { name: 'Add models' });
  await expect(models).toContainText('Nothing listens at 127.0.0.1:1');

  const address = page.getByRole('region', { name: 'Name and address' });
  await address.getByLabel('Address').fill(server.url);
  await address.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { level: 1 }).locator('xpath=ancestor::header')).toContainText(
    server.url,
  );
  await models.getByRole('button', { name: 'Read the list again' }).click();
  await models.getByLabel('Search models').fill('echo');
  await models.getByRole('checkbox', { name: 'Select all' }).check();
  await models.getByLabel('Slug of echo').fill(`${own}/talks`);
  await models.getByLabel('Input, $ per million tokens of echo').fill('0.5');
  await models.getByLabel('Output, $ per million of echo').fill('1.5');
  await models.getByLabel('Context, tokens of echo').fill('4096');
  await models.getByText('What it can do: not known').click();
  await models.getByLabel('Tools of echo').selectOption('Yes');
  await models.getByLabel('Images of echo').selectOption('No');
  await expect(models).toContainText('What it can do: tools; no images');
  await expectAccessibleInEachLook(page);
  await models.getByRole('button', { name: 'Offer 1 model' }).click();
  const row = page.getByRole('row').filter({ hasText: `${own}/talks` });
  await expect(row).toContainText('$0.5 in, $1.5 out');
  const offer = await db.prisma.offer.findFirstOrThrow({ where: { providerId: own } });
  expect(offer.abilities).toEqual({ tools: true, images: false });
  await row.getByRole('button', { name: `Withdraw ${own}/talks` }).click();
  await row.getByRole('button', { name: 'Withdraw' }).click();
  await expect(row).toContainText('Withdrawn');
  await row.getByRole('button', { name: `Offer again ${own}/talks` }).click();
  await expect(row).toContainText('Offered');
  await expectAccessibleInEachLook(page);
  expect(await page.content()).not.toContain(key);

  // The preset of a provider that exists leads to it.
  await page.goto('/operator/providers/add');
  await page.getByRole('link', { name: /^Groq/ }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Groq' })).toBeVisible();
  await server.close();
});
