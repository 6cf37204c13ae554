import { expect } from 'playwright/test';
import { makeKey, openKeys, test } from '#tests/console/home';
import { expectEscapeLeadsBack } from '#tests/console/walk/by-tab';

test('filters, order and columns of the log are saved under a name, opened, renamed and deleted (contract: control-plane/saved-views)', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/logs?status=5xx&sort=-cost`);
  const button = page.getByRole('button', { name: 'Views' });
  await button.click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  const save = page.getByRole('dialog', { name: 'Save this view' });
  await save.getByRole('textbox', { name: 'Name' }).fill('Failed, most expensive first');
  await save.getByRole('checkbox', { name: 'Share with the workspace' }).check();
  await save.getByRole('button', { name: 'Save view' }).click();
  await expect(page.getByText('View “Failed, most expensive first” saved')).toBeVisible();

  await page.goto(`/${home.slug}/logs`);
  await button.click();
  await page.getByRole('menuitem', { name: 'Failed, most expensive first' }).click();
  await expect(page).toHaveURL(/\/logs\?status=5xx&sort=-cost$/);

  await button.click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await save.getByRole('textbox', { name: 'Name' }).fill('Failed, most expensive first');
  await save.getByRole('button', { name: 'Save view' }).click();
  await expect(save.getByRole('alert')).toContainText('There is already a view');
  await expect(save.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await save.getByRole('button', { name: 'Cancel' }).click();

  await button.click();
  await page.getByRole('menuitem', { name: 'Manage views…' }).click();
  await page.getByRole('button', { name: 'Rename Failed, most expensive first' }).click();
  const rename = page.getByRole('dialog', { name: 'Rename the view' });
  await rename.getByRole('textbox', { name: 'Name' }).fill('Failures');
  await rename.getByRole('button', { name: 'Rename' }).click();
  await expect(page.getByText('The view is now called “Failures”')).toBeVisible();

  await button.click();
  await page.getByRole('menuitem', { name: 'Manage views…' }).click();
  await page.getByRole('button', { name: 'Delete Failures' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete view' }).click();
  await expect(page.getByText('View deleted')).toBeVisible();
  await button.click();
  await expect(page.getByText('No saved views yet.')).toBeVisible();
});

test('columns of the keys are chosen, and those of a URL count instead (contract: control-plane/chosen-columns)', async ({
  page,
  home,
  db,
}) => {
  await makeKey(db, home, 'columns');
  await openKeys(page, home);
  const heads = page.getByRole('columnheader');
  await expect(heads.filter({ hasText: 'Created by' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Columns', exact: true }).press('Enter');
  await page.getByRole('menuitemcheckbox', { name: 'Created by' }).press('Space');
  await expect(heads.filter({ hasText: 'Created by' })).toHaveCount(1);
  await page.goto(`/${home.slug}/keys?columns=status.total`);
  await expect(heads).toHaveText(['Name', 'Status', 'Spend, total', 'Actions']);
  await page.goto(`/${home.slug}/keys`);
  await expect(heads.filter({ hasText: 'Created by' })).toHaveCount(1);
});

test('on a phone the filters of a list are a sheet, and menus open at the bottom (contract: control-plane/sheets)', async ({
  page,
  home,
  db,
}) => {
  for (const name of ['one', 'two']) await makeKey(db, home, name);
  await page.setViewportSize({ width: 390, height: 844 });
  await openKeys(page, home);
  await expect(page.getByRole('combobox', { name: 'Status' })).toBeHidden();
  await page.getByRole('button', { name: 'Filters' }).click();
  const sheet = page.getByRole('dialog', { name: 'Filters' });
  await sheet.getByRole('combobox', { name: 'Status' }).selectOption('Disabled');
  await expect(page).toHaveURL(/status=inactive/);
  await sheet.getByRole('button', { name: 'Show results' }).click();
  const filters = page.getByRole('button', { name: 'Filters (1)' });
  await expect(filters).toBeFocused();
  await filters.click();
  await expectEscapeLeadsBack(page, filters);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('button', { name: 'Actions for one' }).click();
  const menu = page.getByRole('menu');
  await expect(async () => {
    const box = await menu.boundingBox();
    expect(box?.x).toBe(0);
    expect(box?.width).toBe(390);
    expect(Math.round((box?.y ?? 0) + (box?.height ?? 0))).toBe(844);
  }).toPass();
});
