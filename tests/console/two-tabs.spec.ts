import { expect, type Page } from 'playwright/test';
import { addPerson, makeKey, openKeys, test } from '#tests/console/home';
import { inDatabase } from '#tests/console/visit';
import { createKey, findKey } from '#tests/support/control/operate';

test('a tab that missed a revocation shows it after the next action', async ({ page, context, home, db }) => {
  await makeKey(db, home, 'seen twice');
  await openKeys(page, home);
  const other = await context.newPage();
  await other.goto(`/${home.slug}/keys`);
  await page.getByRole('button', { name: 'Actions for seen twice' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke seen twice?' });
  await expect(dialog.getByRole('textbox')).toBeFocused();
  await dialog.getByRole('textbox').fill('seen twice');
  await dialog.getByRole('button', { name: 'Revoke key' }).click();
  await expect(page.getByText('seen twice revoked')).toBeVisible();
  const row = other.getByRole('row').filter({ hasText: 'seen twice' });
  await expect(row).toContainText('Active');
  await other.getByRole('button', { name: 'Actions for seen twice' }).click();
  await other.getByRole('menuitem', { name: 'Disable' }).click();
  await expect(other.getByText('This key is revoked for good; create a new one.')).toBeVisible();
  await expect(row).toContainText('Revoked');
});

test('a role that another tab changed is shown before it is changed again (contract: control-plane/two-tabs)', async ({
  page,
  context,
  home,
  db,
}) => {
  const { email } = await addPerson(db, home.slug, 'developer');
  const other = await context.newPage();
  for (const tab of [page, other]) await tab.goto(`/${home.slug}/members`);
  const change = async (tab: Page, role: string) => {
    await tab.getByRole('button', { name: `Actions for ${email}` }).click();
    await tab.getByRole('menuitem', { name: 'Change role' }).click();
    await tab.getByRole('combobox', { name: 'Role' }).selectOption(role);
    await tab.getByRole('button', { name: 'Change role' }).click();
  };
  await change(page, 'viewer');
  await expect(page.getByText(`${email} now has the role viewer`)).toBeVisible();
  await change(other, 'admin');
  await expect(other.getByText('This was changed in the meantime')).toBeVisible();
  const row = other.getByRole('row', { includeHidden: true }).filter({ hasText: email });
  await expect(row).toContainText('viewer');
  await other.getByRole('button', { name: 'Change role' }).click();
  await expect(other.getByText(`${email} now has the role admin`)).toBeVisible();
});

test('by keyboard only, a dialog opens on its first field, and the focus returns to its button', async ({
  page,
  home,
  db,
}) => {
  const name = 'by keyboard';
  await makeKey(db, home, name);
  await openKeys(page, home);
  const menu = page.getByRole('button', { name: `Actions for ${name}` });
  await page.getByRole('button', { name: 'Create key' }).press('Enter');
  await expect(page.getByRole('dialog').getByLabel('Name', { exact: true })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Create key' })).toBeFocused();
  await menu.press('Enter');
  await page.getByRole('menuitem', { name: 'Disable' }).press('Enter');
  await expect(page.getByText(`${name} disabled`)).toBeVisible();
  await expect(menu).toBeFocused();
});

test('a key whose creator left and a suspended workspace are shown as not working', async ({
  page,
  home,
  db,
}) => {
  await makeKey(db, home, 'orphan');
  const gone = '00000000-0000-7000-8000-000000000000';
  await inDatabase(
    `UPDATE api_key SET created_by = '${gone}' WHERE workspace_id = '${home.id}'`,
    `UPDATE workspace SET suspended_at = now() WHERE id = '${home.id}'`,
  );
  await openKeys(page, home);
  await expect(page.getByRole('row').filter({ hasText: 'orphan' })).toContainText('Creator left');
  await expect(page.getByText('This workspace is suspended')).toBeVisible();
});

test('changes to the same key in two tabs are both kept', async ({ page, context, home, db }) => {
  const { id } = await createKey(db, { workspace: home.slug, name: 'edited twice', dailyCap: '5' });
  await openKeys(page, home);
  const other = await context.newPage();
  await other.goto(`/${home.slug}/keys`);
  const openForm = async (tab: typeof page) => {
    await tab.getByRole('button', { name: 'Actions for edited twice' }).click();
    await tab.getByRole('menuitem', { name: 'Edit' }).click();
    const form = tab.getByRole('dialog', { name: 'Edit edited twice' });
    await expect(form.getByLabel('Per day')).toHaveValue('5');
    return form;
  };
  const [one, two] = [await openForm(page), await openForm(other)];
  await one.getByLabel('Per day').fill('8');
  await one.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('edited twice saved')).toBeVisible();
  await two.getByLabel('Requests a minute').fill('77');
  await two.getByRole('button', { name: 'Save changes' }).click();
  await expect(other.getByText('edited twice saved')).toBeVisible();
  expect(await findKey(db, id)).toMatchObject({ dailyCap: '8', rpm: 77 });
});
