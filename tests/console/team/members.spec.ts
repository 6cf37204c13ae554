import { expect } from 'playwright/test';
import { addPerson, test } from '#tests/console/home';
import { linkInLog } from '#tests/console/visit';
import { createKeyAs, createWorkspace, setWorkspace } from '#tests/support/control/operate';

test('an invited person joins with the emailed link, and is removed with the keys that the page names', async ({
  page,
  home,
  db,
  browser,
}) => {
  const name = '"><img src=x onerror=document.title=1>';
  await setWorkspace(db, { workspace: home.slug, name });
  const email = `invited@${home.slug}.example`;
  await page.goto(`/${home.slug}/members`);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Invite people' });
  await form.getByLabel('Email addresses').fill(`${email}, nobody`);
  await form.getByRole('button', { name: 'Create invitations' }).click();
  await expect(form.getByText('nobody: Must be an email address')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('row').filter({ hasText: email })).toContainText(/in [67] d/);
  const link = await linkInLog(email);

  await page.goto(link);
  await expect(page.getByText(`You are signed in as ${home.owner.email}`)).toBeVisible();

  const theirs = await (await browser.newContext()).newPage();
  await theirs.goto(link);
  await expect(theirs.getByRole('heading', { name: `Join ${name}` })).toBeVisible();
  await theirs.getByLabel('Name').fill(name);
  await theirs.getByRole('textbox', { name: 'Password' }).fill('three random words');
  await theirs.getByRole('button', { name: 'Create account and join' }).click();
  await theirs.waitForURL(`**/${home.slug}`);
  await theirs.goto(`/${home.slug}/members`);
  await expect(theirs.getByRole('row').filter({ hasText: email })).toContainText('You');
  await expect(theirs.getByRole('button', { name: 'Invite', exact: true })).toHaveAttribute(
    'aria-disabled',
    'true',
  );

  const { id } = await db.prisma.user.findUniqueOrThrow({ where: { email } });
  await createKeyAs(db, id, { workspace: home.slug, name: 'their server' });
  await page.goto(`/${home.slug}/members`);
  await page.getByRole('button', { name: `Actions for ${email}` }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  const asked = page.getByRole('dialog', { name: /^Remove/ });
  await expect(asked.getByRole('listitem')).toContainText('their server');
  await asked.getByRole('button', { name: 'Remove member' }).click();
  await expect(asked).toHaveCount(0);
  await expect(page.getByRole('row').filter({ hasText: email })).toHaveCount(0);
  expect((await theirs.reload())?.status()).toBe(404);
  expect(await page.title()).toMatch(/^Members · .+ · Model Gateway$/);
});

test('a member’s role can be changed and the ownership transferred by keyboard only', async ({
  page,
  home,
  db,
}) => {
  const other = await addPerson(db, home.slug, 'developer');
  await page.goto(`/${home.slug}/members`);
  const menu = page.getByRole('button', { name: `Actions for ${other.email}` });
  await menu.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Change role' }).press('Enter');
  const role = page.getByRole('combobox', { name: 'Role' });
  await role.focus();
  await page.keyboard.type('viewer');
  await page.keyboard.press('Escape');
  await expect(menu).toBeFocused();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Change role' }).press('Enter');
  await expect(role).toHaveValue('developer');
  await role.focus();
  await page.keyboard.type('billing');
  await expect(page.getByText('No keys stop working.')).toBeVisible();
  await page.getByRole('button', { name: 'Change role' }).press('Enter');
  await expect(page.getByRole('row').filter({ hasText: other.email })).toContainText('billing');
  await menu.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Transfer ownership' }).press('Enter');
  await page.getByRole('button', { name: 'Transfer ownership' }).press('Enter');
  await expect(page.getByRole('row').filter({ hasText: other.email })).toContainText('owner');
  await expect(page.getByRole('row').filter({ hasText: home.owner.email })).toContainText('admin');
});

test('a workspace can be created from the switcher, and other people’s workspaces are not found', async ({
  page,
  home,
  db,
}) => {
  const { slug } = await createWorkspace(db, { name: `Foreign ${home.slug}` });
  expect((await page.goto(`/${slug}/members`))?.status()).toBe(404);
  await page.goto(`/${home.slug}/members`);
  await page.getByRole('button', { name: /^Workspace/ }).click();
  await page.getByRole('menuitem', { name: 'New workspace' }).click();
  await page.getByLabel('Name').fill(`Lab ${home.slug}`);
  await page.getByRole('button', { name: 'Create workspace' }).click();
  await page.waitForURL(`**/lab-${home.slug}`);
});
