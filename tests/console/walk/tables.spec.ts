import { expect } from 'playwright/test';
import { addCredit } from '#lib/control/operations/credit/operations';
import { createInvitation } from '#lib/control/operations/invitation/operations';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { makeKey, openKeys, test } from '#tests/console/home';
import { operate } from '#tests/support/control/operate';

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

test('columns and order of each list are in the URL, and a second list of a page has its own (contract: control-plane/chosen-columns)', async ({
  page,
  home,
  db,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  const { slug: workspace } = home;
  await operate(db, createManagementKey, { workspace, name: 'a script', role: 'viewer' });
  await operate(db, addCredit, { workspace, amount: '1', reason: 'for the list' });
  for (const name of ['one', 'two'])
    await operate(db, createInvitation, { workspace, email: `${name}@${workspace}.example`, role: 'viewer' });
  const listOf = (table: string) =>
    page.getByRole('region', { name: `${table}, table`, exact: true }).getByRole('table');
  const heads = (table: string) => listOf(table).getByRole('columnheader');
  for (const [path, table, shown] of [
    [
      `/${workspace}/billing/ledger?columns=amount.ref&sort=-amount`,
      'Ledger',
      ['When', 'Amount', 'Reference'],
    ],
    [`/${workspace}/audit?columns=action.actor&sort=at`, 'Audit log', ['Time', 'Action', 'Actor']],
    [`/${workspace}/management-keys?columns=id&sort=name`, 'Management keys', ['Name', 'Key id', 'Actions']],
    [
      `/${workspace}/members?columns=role&invitedColumns=sent&invited=-email`,
      'Open invitations',
      ['Address', 'Sent', 'Actions'],
    ],
    ['/operator/workspaces?columns=held.id&sort=-held', 'Workspaces', ['Workspace', 'Held', 'Workspace id']],
    ['/operator/providers?columns=offers&sort=-offers', 'Providers', ['Provider', 'Offers', 'Actions']],
    ['/operator/fleet?columns=version&sort=-started', 'Processes', ['Process', 'Version']],
    ['/operator/providers/sandbox?columns=context&sort=-context', 'Models', ['Model', 'Context', 'Actions']],
  ] as const) {
    await page.goto(path);
    await expect(heads(table), path).toHaveText(shown);
  }
  await page.goto(`/${workspace}/members?columns=role&invitedColumns=sent&invited=-email`);
  await expect(heads('Members')).toHaveText(['Member', 'Role', 'Actions']);
  const invited = listOf('Open invitations');
  await expect(invited.getByRole('row')).toHaveText([/Address/, /^two@/, /^one@/]);

  const section = page.getByRole('region', { name: 'Open invitations', exact: true });
  await section.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Expires' }).click();
  await page.keyboard.press('Escape');
  await expect(heads('Open invitations')).toHaveText(['Address', 'Sent', 'Expires', 'Actions']);
  await expect(page).toHaveURL(/\/members\?columns=role&invited=-email$/);
  await expect(heads('Members')).toHaveText(['Member', 'Role', 'Actions']);
});
