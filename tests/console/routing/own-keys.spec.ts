import { randomBytes } from 'node:crypto';
import { expect } from 'playwright/test';
import { publish } from '#lib/platform/data/change';
import type { Db } from '#lib/platform/data/db';
import { newRowId } from '#lib/platform/data/row-id';
import { expectAccessibleInEachLook } from '#tests/console/accessible';
import { addPerson, enter, test } from '#tests/console/home';
import { startSandboxProcess } from '#tests/support/provider/process';

test('an own key that fails its test is not used; one that works replaces it, is edited and deleted', async ({
  page,
  home,
  db,
  context,
}) => {
  const secret = `sk-${randomBytes(16).toString('hex')}`;
  const server = await startSandboxProcess(undefined, secret);
  const provider = `own-${randomBytes(4).toString('hex')}`;
  await addProvider(db, provider, server.url);
  await page.goto(`/${home.slug}/own-keys`);
  await expect(page.getByRole('main')).toContainText('5% of the list price');
  const form = page.getByRole('dialog');
  // The gateway reads a changed catalogue within a second.
  await expect(async () => {
    await page.reload();
    await page.getByRole('button', { name: 'Add own key' }).click();
    const options = form.getByRole('combobox', { name: 'Provider' }).getByRole('option');
    await expect(options.filter({ hasText: provider })).toHaveCount(1, { timeout: 5_000 });
  }).toPass();
  await form.getByRole('combobox', { name: 'Provider' }).selectOption(provider);
  await form.getByLabel('API key').fill('sk-wrong-0123456789');
  await form.getByLabel('Name', { exact: true }).fill('ours');
  await form.getByRole('button', { name: 'Test and add' }).click();
  const row = page.getByRole('row').filter({ hasText: provider });
  await expect(row).toContainText('Fails');
  await expect(row).toContainText('The provider answered 401');

  await row.getByRole('button', { name: 'Replace key of ours' }).click();
  await form.getByLabel('API key').fill(secret);
  await form.getByRole('button', { name: 'Test and replace' }).click();
  await expect(row).toContainText('Works');
  await row.getByRole('button', { name: 'Edit ours' }).click();
  await form.getByRole('combobox', { name: 'Use' }).selectOption('only');
  await form.getByRole('button', { name: 'Selected models' }).click();
  await form.getByRole('checkbox', { name: `${provider}/echo` }).check();
  await form.getByRole('button', { name: 'Save changes' }).click();
  await expect(row).toContainText('never the gateway’s credential');
  await expect(row).toContainText(`${provider}/echo`);
  await row.getByRole('button', { name: 'Test ours' }).click();
  await expect(page.getByText('ours works', { exact: true })).toBeVisible();
  await expectAccessibleInEachLook(page);
  expect(await page.content()).not.toContain(secret);

  await enter(context, await addPerson(db, home.slug, 'viewer'));
  await page.reload();
  await expect(row).toContainText('Works');
  await expect(row.getByRole('button')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Add own key' })).toBeDisabled();

  await enter(context, home.owner);
  await page.reload();
  await row.getByRole('button', { name: 'Delete ours' }).click();
  await form.getByRole('textbox').fill('ours');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'No own keys yet' })).toBeVisible();
  await server.close();
});

/** Adds a provider with one model, and no credential of the operator's. */
async function addProvider(db: Db, id: string, address: string): Promise<void> {
  await db.prisma.provider.create({ data: { id, name: id, families: { chat: address } } });
  const model = { id: `${id}/echo`, name: id, contextTokens: 100_000, maxOutputTokens: 1_000 };
  await db.prisma.model.create({ data: { ...model, input: ['text'], output: ['text'] } });
  const offerId = newRowId();
  await db.prisma.offer.create({
    data: { id: offerId, modelId: model.id, providerId: id, upstreamModel: 'echo', families: ['chat'] },
  });
  const price = { base: { input: '1000000000', output: '1000000000' }, tiers: [], serviceTiers: {} };
  await db.prisma.priceVersion.create({ data: { id: newRowId(), offerId, price } });
  await publish(db.pool, [{ kind: 'catalogue', subject: '' }]);
}
