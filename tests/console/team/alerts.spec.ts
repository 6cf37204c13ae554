import { expect } from 'playwright/test';
import { test } from '#tests/console/home';
import { closeSecret } from '#tests/console/visit';

test('a webhook can be added with a secret shown once, tested, and a delivery sent again from its log', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/alerts`);
  await page.getByRole('button', { name: 'Add webhook' }).click();
  const form = page.getByRole('dialog', { name: 'Add a webhook' });
  await form.getByLabel('Address').fill('https://169.254.169.254/');
  await form.getByRole('button', { name: 'Add webhook' }).click();
  await expect(form.getByText('This address is private')).toBeVisible();
  // A name that does not exist, so that nothing is sent.
  await form.getByLabel('Address').fill('https://nobody.invalid/hook?<b>');
  await form.getByRole('button', { name: 'Add webhook' }).click();
  await expect(page.getByTestId('secret')).toHaveText(/^whsec_[\w-]{43}$/);
  await closeSecret(page);
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.getByText('Test event sent')).toBeVisible();
  // By keyboard, because a message may cover them.
  await page.getByRole('link', { name: 'Deliveries' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Send again' })).toBeVisible();
  await page.getByRole('button', { name: 'Send again' }).press('Enter');
  await expect(page.getByText('Delivery queued again')).toBeVisible();
  await page.getByRole('checkbox', { name: /^Expiring keys/ }).press('Space');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(page.getByText('Alerts saved')).toBeVisible();
});
