import { expect } from 'playwright/test';
import { test } from '#tests/console/home';
import { closeSecret } from '#tests/console/visit';

test('a webhook is added with a secret that is shown once, tried, and sent again from its log', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/alerts`);
  await page.getByRole('button', { name: 'Add webhook' }).click();
  const form = page.getByRole('dialog', { name: 'Add a webhook' });
  await form.getByLabel('Address').fill('https://169.254.169.254/');
  await form.getByRole('button', { name: 'Add webhook' }).click();
  await expect(form.getByText('This address is private')).toBeVisible();
  // A name that nobody has, so that nothing is sent anywhere.
  await form.getByLabel('Address').fill('https://nobody.invalid/hook?<b>');
  await form.getByRole('button', { name: 'Add webhook' }).click();
  await expect(page.getByTestId('secret')).toHaveText(/^whsec_[\w-]{43}$/);
  await closeSecret(page);
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.getByText('A test event is on its way')).toBeVisible();
  // By keyboard: a message may lie over them.
  await page.getByRole('link', { name: 'Deliveries' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Send again' })).toBeVisible();
  await page.getByRole('button', { name: 'Send again' }).press('Enter');
  await expect(page.getByText('It is sent again')).toBeVisible();
  await page.getByRole('checkbox', { name: /^Keys that expire/ }).press('Space');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(page.getByText('The alerts are saved')).toBeVisible();
});
