import { randomBytes } from 'node:crypto';
import { expect } from '@playwright/test';
import { addPerson, enter, makeKey, test } from '#tests/console/home';
import { callGateway, expectAccessible } from '#tests/console/visit';
import { createWorkspace } from '#tests/support/control/operate';

test('by keyboard alone a card pays, and the call that was refused passes', async ({ page, context, db }) => {
  const place = await createWorkspace(db, { name: `Paying ${randomBytes(4).toString('hex')}` });
  const owner = await addPerson(db, place.slug, 'owner');
  await enter(context, owner);
  const key = await makeKey(db, { ...place, owner }, 'until the money comes');
  expect((await callGateway(key)).status).toBe(402);

  await page.goto(`/${place.slug}/billing`);
  await expectAccessible(page);
  const amount = page.getByRole('textbox', { name: 'Amount' });
  await amount.focus();
  await amount.fill('4.99');
  await amount.press('Enter');
  await expect(page.getByText(/5 to 10000 dollars, in whole cents/)).toBeVisible();
  await amount.fill('20');
  await amount.press('Enter');
  await expect(page.getByRole('heading', { name: 'Test payment of $20.00' })).toBeVisible();
  await page.getByRole('button', { name: 'Pay' }).press('Enter');
  await expect(page).toHaveURL(/\/billing\?top-up=/);
  await expect(page.getByText('$20.00 was added to the balance.')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Ledger', exact: true }).first()).toContainText('Top-up');
  await expectAccessible(page);
  // In force on every process within 2 s of the payment, so long before the page was read.
  await expect.poll(async () => (await callGateway(key)).status, { timeout: 2_000 }).toBe(200);
});

test('a payment that was not made adds nothing, and says so', async ({ page, home }) => {
  await page.goto(`/${home.slug}/billing`);
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText(/Waiting for word of the payment of \$25\.00/)).toBeVisible();
  await expect(page.getByRole('link', { name: 'Back to the payment' })).toBeVisible();
  await page.getByRole('link', { name: 'Dismiss' }).click();
  await expect(page.getByText('Waiting for payment')).toBeVisible();
  await expect(page.getByText('Nothing has moved the balance yet.')).toBeVisible();
});
