import { randomBytes } from 'node:crypto';
import { expect } from 'playwright/test';
import { postUsage } from '#lib/gateway/ledger/post-usage';
import { expectAccessible } from '#tests/console/accessible';
import { addPerson, enter, test } from '#tests/console/home';
import { createWorkspace } from '#tests/support/control/operate';

test('a billing member sets a budget as people type money, and every page says when it is used up', async ({
  page,
  context,
  db,
}) => {
  const place = await createWorkspace(db, {
    name: `Budget ${randomBytes(4).toString('hex')}`,
    credit: '5000',
  });
  await enter(context, await addPerson(db, place.slug, 'billing'));
  await page.goto(`/${place.slug}/billing`);
  const amount = page.getByRole('textbox', { name: 'Budget for each month' });
  await amount.fill('a lot');
  await amount.press('Enter');
  await expect(page.getByText(/^Must be an amount of dollars/)).toBeVisible();
  await amount.fill('$1,000');
  await page.getByRole('combobox', { name: 'When it is used up' }).selectOption('Refuse calls');
  await page.getByRole('button', { name: 'Save budget' }).click();
  const month = page.getByRole('region', { name: 'This month' });
  await expect(month).toContainText('$1,000.00');
  await expect(month).toContainText('When it is used up, calls are refused with 402');
  await expectAccessible(page);

  await postUsage(db.pool, [{ id: place.id, spentNano: 1_000_000_000_000n, simulatedNano: 0n, calls: 1 }]);
  await page.reload();
  await expect(month).toContainText('Used up: calls are refused with 402 until');
  await expect(page.getByText('Calls are refused: the monthly budget is used up.').first()).toBeVisible();
  await page.goto(`/${place.slug}/usage`);
  await expect(page.getByText(/\$1,000\.00 spent this month; \$0\.00 left of the budget/)).toBeVisible();
});
