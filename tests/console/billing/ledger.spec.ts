import { randomBytes } from 'node:crypto';
import { expect } from 'playwright/test';
import { grantCredit } from '#lib/control/operations/credit/promo';
import { expectAccessible } from '#tests/console/accessible';
import { addPerson, enter, test } from '#tests/console/home';
import { addCredit, createWorkspace, operate } from '#tests/support/control/operate';

test('the ledger can be filtered by kind, downloaded as a file, and printed as a statement that adds up', async ({
  page,
  context,
  db,
}) => {
  const place = await createWorkspace(db, { name: `Books ${randomBytes(4).toString('hex')}` });
  await enter(context, await addPerson(db, place.slug, 'owner'));
  await addCredit(db, { workspace: place.slug, amount: '-2.5', reason: '=a correction' });
  const promo = { workspace: place.slug, amount: '25', reason: 'Launch credit', expiresAt: '2199-01-31' };
  await operate(db, grantCredit, promo);

  await page.goto(`/${place.slug}/billing`);
  await expect(page.getByText('Promo credit in the balance, spent first')).toBeVisible();
  const threshold = page.getByRole('textbox', { name: 'Email when below' });
  await threshold.fill('30');
  await threshold.press('Enter');
  await expect(page.getByText('Saved.', { exact: true })).toBeVisible();
  await expect(page.getByText('The balance is low.').first()).toBeVisible();
  await expectAccessible(page);

  await page.getByRole('link', { name: 'All lines and statements' }).press('Enter');
  await expect(page.getByRole('row')).toHaveCount(3);
  await expectAccessible(page);
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Adjustment');
  await expect(page).toHaveURL(/kind=adjustment/);
  await expect(page.getByRole('row')).toHaveCount(2);
  const href = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href');
  const file = await (await page.request.get(href ?? '')).text();
  expect(file.split('\r\n')).toHaveLength(3);
  expect(file).toContain(",adjustment,-2.5,-2.5,,'=a correction,");

  await page.getByRole('link', { name: 'Statement' }).press('Enter');
  await expect(page.getByRole('heading', { name: /^Statement for/ })).toBeVisible();
  await expectAccessible(page);
  const summary = page.getByRole('table', { name: 'Summary' });
  await expect(summary.getByRole('row').last()).toContainText('$22.50');
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect(page.getByRole('navigation', { name: 'Workspace' })).toBeHidden();
  await expect(summary).toBeVisible();
  // With reduced motion, every change of a color is a transition of 0.01 ms, which ends with the next frame.
  await expect
    .poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor))
    .toBe('rgb(255, 255, 255)');
});
