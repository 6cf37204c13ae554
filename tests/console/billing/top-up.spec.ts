import { randomBytes } from 'node:crypto';
import { expect } from 'playwright/test';
import { expectAccessible } from '#tests/console/accessible';
import { addPerson, enter, makeKey, test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';
import { createWorkspace } from '#tests/support/control/operate';

test('a card payment by keyboard only, after which the call that was refused succeeds', async ({
  page,
  context,
  db,
}) => {
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
  const fault = page.getByRole('alert').filter({ hasText: '5 to 10000 dollars, in whole cents' });
  await expect(fault).toBeVisible();
  await amount.fill('20');
  await amount.press('Enter');
  await expect(page.getByRole('heading', { name: 'Test payment of $20.00' })).toBeVisible();
  await page.getByRole('button', { name: 'Pay', exact: true }).press('Enter');
  await expect(page).toHaveURL(/\/billing\?top-up=/);
  await expect(page.getByText('$20.00 was added to your balance.')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Ledger', exact: true }).first()).toContainText('Top-up');
  await expectAccessible(page);
  // In force on every process within 2 s of the payment, usually before the page was read.
  await expect.poll(async () => (await callGateway(key)).status).toBe(200);
});

test('an abandoned payment adds nothing, and the page says so', async ({ page, home }) => {
  await page.goto(`/${home.slug}/billing`);
  // Until the payment page has loaded, the button stays pressed, and a second press starts no second payment.
  let asked = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST') asked += 1;
  });
  await page.route('**/pay/**', (route) => route.fulfill({ status: 204 }));
  await page.getByRole('button', { name: 'Continue to payment' }).press('Enter');
  const payment = await page.waitForRequest('**/pay/**');
  await page.evaluate(() => fetch('/robots.txt').then((answer) => answer.text()));
  await expect(page.getByRole('button', { name: 'Opening the payment page…' })).toBeFocused();
  await page.keyboard.press('Enter');
  await page.unroute('**/pay/**');
  await page.goto(payment.url(), { waitUntil: 'load' });
  expect(asked).toBe(1);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('You canceled the payment; nothing was charged.')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Try again' })).toHaveAttribute('href', payment.url());
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect(page).toHaveURL(/\/billing$/);
  await expect(page.getByRole('region', { name: 'Top-ups', exact: true }).first()).toContainText('Canceled');
  await expect(page.getByText('Waiting for payment')).toHaveCount(0);
  await expect(page.getByText('No ledger lines yet.')).toBeVisible();
});

test('a saved card is charged automatically, within the limits that were set', async ({ page, home }) => {
  await page.goto(`/${home.slug}/billing`);
  const automatic = page.getByRole('region', { name: 'Automatic top-ups' });
  await expect(automatic).toContainText('No saved card');
  await page.getByRole('checkbox', { name: /Save the card/ }).click();
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByRole('button', { name: 'Pay with 3-D Secure' }).click();
  await expect(page.getByText('$25.00 was added to your balance.')).toBeVisible();
  await expect(automatic).toContainText('•••• 3184');
  await automatic.getByRole('textbox', { name: 'Top up by' }).fill('4');
  await automatic.getByRole('checkbox').click();
  await automatic.getByRole('button', { name: 'Save' }).click();
  await expect(automatic).toContainText('5 to 10000 dollars, in whole cents');
  await automatic.getByRole('textbox', { name: 'Top up by' }).fill('30');
  await automatic.getByRole('textbox', { name: 'Below' }).fill('1000');
  // The balance is already below the threshold.
  await expect(automatic.getByRole('note')).toContainText('Charges $30 now.');
  await automatic.getByRole('button', { name: 'Save' }).click();
  await expect(async () => {
    await page.reload();
    await expect(automatic.getByRole('status')).toContainText('The bank requires the cardholder', {
      timeout: 500,
    });
  }).toPass();
  await expectAccessible(page);
  await expect(automatic.getByRole('note')).toContainText('Resuming: Charges $30 now.');
  await automatic.getByRole('button', { name: 'Resume' }).click();
  await expect(page.getByText('Automatic top-ups resumed')).toBeVisible();
});
