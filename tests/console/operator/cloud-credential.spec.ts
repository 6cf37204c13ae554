import { expect } from 'playwright/test';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { test } from '#tests/console/home';
import { operate } from '#tests/support/control/operate';

test('an operator gives a provider of a cloud the parts of its identity, or an API key', async ({
  page,
  home,
  db,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  const text = JSON.stringify({
    providers: [
      {
        id: 'cloud-form',
        name: 'Cloud of the form',
        families: { chat: 'http://127.0.0.1:1/v1' },
        auth: { kind: 'aws-sigv4', region: 'eu-west-1' },
      },
    ],
  });
  await operate(db, applyCatalogue, { files: [{ name: 'cloud.yaml', text }] });
  await page.goto('/operator/providers');
  await page.getByRole('button', { name: 'Add a credential for Cloud of the form' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('role');
  await form.getByLabel('Access key id').fill('AKIATEST');
  await form.getByRole('button', { name: 'Save credential' }).click();
  await expect(form.getByRole('alert').or(form.getByText('secretAccessKey'))).toContainText(
    'secretAccessKey',
  );
  await form.getByLabel('Secret access key').fill('aws-secret-0123456789');
  await form.getByLabel('Role', { exact: true }).fill('arn:aws:iam::123456789012:role/gateway');
  await form.getByRole('button', { name: 'Save credential' }).click();
  await expect(form).toHaveCount(0);
  const row = page.getByRole('row').filter({ hasText: 'Cloud of the form' });
  await expect(row).toContainText('Stored, encrypted');
  await expect(page.locator('body')).not.toContainText('aws-secret');
});
