import { expect } from '@playwright/test';
import { test } from '#tests/console/home';

test('what narrows a list keeps the focus, follows Back, and hands the focus on when it is cleared', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/logs`);
  const search = page.getByRole('searchbox', { name: 'Request id' });
  await search.fill('ffff');
  await page.keyboard.press('Enter');
  await expect(page.getByText('No call matches')).toBeVisible();
  await expect(search).toBeFocused();
  await page.goBack();
  await expect(search).toHaveValue('');
  await page.locator('details summary').press('Enter');
  const bound = page.getByRole('textbox', { name: /^Cost from/ });
  await bound.fill('1');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Clear' })).toBeVisible();
  await expect(bound).toBeFocused();
  await page.getByRole('button', { name: 'Clear' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Clear' })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Show new calls' })).toBeFocused();
});

test('what is removed from a list leaves the focus in it', async ({ page, home }) => {
  await page.goto(`/${home.slug}/routing`);
  const box = page.getByRole('combobox', { name: 'Add a fallback model' });
  for (const name of ['sandbox/mini', 'sandbox/echo']) {
    await box.focus();
    await page.keyboard.type(name);
    await expect(page.getByRole('option', { name, exact: true })).toBeVisible();
    await page.keyboard.press('Enter');
  }
  await page.getByRole('button', { name: 'Remove sandbox/mini' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Remove sandbox/echo' })).toBeFocused();
});
