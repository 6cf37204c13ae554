import { expect } from 'playwright/test';
import { makeKey, openKeys, test } from '#tests/console/home';

test('a table is sorted by its head, is stacked on a phone, and changes many rows at once (contract: control-plane/console-tables, control-plane/many-keys, control-plane/waiting)', async ({
  page,
  home,
  db,
}) => {
  for (const name of ['beta', 'alpha', 'gamma']) await makeKey(db, home, name);
  await openKeys(page, home);
  const table = page.getByRole('table');
  const names = table.getByRole('link').filter({ hasText: /^(alpha|beta|gamma)$/ });
  await expect(names).toHaveText(['gamma', 'alpha', 'beta']);

  // The page that was asked for does not come yet: the bar says so, and the rows stay.
  const { promise: through, resolve: letThrough } = Promise.withResolvers<void>();
  await page.route(/sort=name/, async (route) => {
    await through;
    await route.continue().catch(() => undefined);
  });
  await table.getByRole('link', { name: 'Name' }).click();
  await expect(page.locator('[data-waiting]')).toBeVisible();
  await expect(names).toHaveCount(3);
  letThrough();
  await expect(names).toHaveText(['alpha', 'beta', 'gamma']);
  await expect(page.locator('[data-waiting]')).toHaveCount(0);
  await expect(page).toHaveURL(/\?sort=name$/);
  await expect(table.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'ascending');

  await page.setViewportSize({ width: 390, height: 844 });
  const figure = table.getByRole('row').filter({ hasText: 'alpha' }).getByText('$0.00');
  const [name, spent] = await Promise.all([names.first().boundingBox(), figure.boundingBox()]);
  expect(spent?.y).toBeLessThan((name?.y ?? 0) + (name?.height ?? 0));
  expect((spent?.x ?? 0) + (spent?.width ?? 0)).toBeLessThanOrEqual(390);
  await expect(table.getByRole('link', { name: 'Last used' })).toBeVisible();
  await expect(table.getByText('Models and limits')).toBeHidden();

  await page.getByRole('checkbox', { name: 'Select alpha' }).check();
  await page.getByRole('checkbox', { name: 'Select gamma' }).check();
  await page.getByRole('toolbar').getByRole('button', { name: 'Disable' }).click();
  const dialog = page.getByRole('dialog', { name: 'Disable 2 keys?' });
  await expect(dialog).toContainText('alpha, gamma.');
  await dialog.getByRole('button', { name: 'Disable 2 keys' }).click();
  await expect(page.getByText('2 keys disabled')).toBeVisible();
  await expect(table.getByText('Disabled', { exact: true })).toHaveCount(2);
  const rows = await db.prisma.audit.count({ where: { workspaceId: home.id, action: 'key.disable' } });
  expect(rows).toBe(2);
});
