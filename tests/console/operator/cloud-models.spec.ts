import { randomBytes } from 'node:crypto';
import { expect } from 'playwright/test';
import { expectAccessibleInEachLook } from '#tests/console/accessible';
import { test } from '#tests/console/home';
import { cloudKeys, startClouds } from '#tests/support/clouds/clouds';

test('an operator adds Amazon Bedrock, finds its inference profiles and offers one, which answers', async ({
  page,
  home,
  db,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  const clouds = await startClouds();
  const own = `bedrock-${randomBytes(4).toString('hex')}`;
  await page.goto('/operator/providers/add');
  await page.getByRole('link', { name: /^Amazon Bedrock/ }).click();
  await page.getByLabel('Address', { exact: true }).fill(clouds.url);
  await page.getByLabel('Credential').fill(JSON.stringify(cloudKeys.aws));
  await page.getByLabel('Name', { exact: true }).fill('Own Bedrock');
  await page.getByLabel('Id', { exact: true }).fill(own);
  await clouds.set({ denied: ['bedrock:ListFoundationModels', 'bedrock:ListInferenceProfiles'] });
  await page.getByRole('button', { name: 'Add provider' }).click();
  const models = page.getByRole('region', { name: 'Add models' });
  await expect(models).toContainText('it needs the permission bedrock:ListFoundationModels');

  await clouds.set();
  await models.getByRole('button', { name: 'Read the list again' }).click();
  await expect(models).toContainText('test a model after you have added it');
  await expectAccessibleInEachLook(page);
  const profile = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
  await models.getByRole('checkbox', { name: profile }).check();
  await models.getByLabel(`Input, $ per million tokens of ${profile}`).fill('3');
  await models.getByLabel(`Output, $ per million of ${profile}`).fill('15');
  await models.getByRole('button', { name: 'Offer 1 model' }).click();
  await expect(models).toContainText('can be called now.');
  await page.getByRole('button', { name: 'Test credential default of Own Bedrock' }).click();
  await expect(page.getByRole('region', { name: 'Credentials' })).toContainText('Works');
  await expect(page.locator('body')).not.toContainText(cloudKeys.aws.secretAccessKey);
  clouds.close();
});
