import { expect, type Page } from 'playwright/test';
import { createInvitation } from '#lib/control/operations/invitation/operations';
import { makeKey, openKeys, test } from '#tests/console/home';
import { operate } from '#tests/support/control/operate';

/** Holds back changes. @returns functions that count them and let them through. */
async function holdChanges(page: Page): Promise<{ count(): number; letThrough(): void }> {
  const { promise: through, resolve: letThrough } = Promise.withResolvers<void>();
  let seen = 0;
  await page.route('**/*', async (route) => {
    if (route.request().method() === 'POST') {
      seen += 1;
      await through;
    }
    await route.continue().catch(() => undefined);
  });
  return { count: () => seen, letThrough };
}

test('a button keeps the focus while its change is saved, and saves it once', async ({ page, home }) => {
  await page.goto(`/${home.slug}/billing`);
  await page.getByLabel('Email when below').fill('17');
  const changes = await holdChanges(page);
  await page.getByLabel('Email when below').press('Tab');
  await page.keyboard.press('Enter');
  const pending = page.getByRole('button', { name: 'Saving…' });
  await expect(pending).toBeDisabled();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  await expect(pending).toBeFocused();
  await page.getByLabel('Email when below').press('Enter');
  await pending.focus();
  changes.letThrough();
  await expect(page.getByText('Saved.')).toBeVisible();
  expect(changes.count()).toBe(1);
  await expect(page.locator(':focus')).toHaveText('Save');
});

test('filters keep the focus, follow Back, and pass the focus on when they are cleared', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/logs`);
  const search = page.getByRole('searchbox', { name: 'Request id' });
  await search.fill('ffff');
  await page.keyboard.press('Enter');
  await expect(page.getByText('No matching calls')).toBeVisible();
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

test('removing an item from a list keeps the focus in the list', async ({ page, home }) => {
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

test('a menu button keeps the focus while its menu loads, and gets it back', async ({ page, home, db }) => {
  await makeKey(db, home, 'web');
  await openKeys(page, home);
  const { promise: through, resolve: letThrough } = Promise.withResolvers<void>();
  await page.route('**/_next/static/**/*.js', async (route) => {
    await through;
    await route.continue();
  });
  const button = page.getByRole('button', { name: 'Actions for web' });
  const script = page.waitForRequest('**/_next/static/**/*.js');
  await button.press('Enter');
  await script;
  await expect(button).toBeFocused();
  letThrough();
  await expect(page.getByRole('menu')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('menu')).toHaveCount(0);
  await expect(button).toBeFocused();
});

test('another page begins at its main part, also after Back (contract: control-plane/keyboard-place)', async ({
  page,
  home,
  db,
}) => {
  await makeKey(db, home, 'web');
  await openKeys(page, home);
  // What keeps the place is loaded after the page.
  await expect(async () => {
    for (const [name, path] of [
      ['Logs', 'logs'],
      ['API keys', 'keys'],
    ] as const) {
      await page.getByRole('link', { name, exact: true }).press('Enter');
      await page.waitForURL(new RegExp(`/${path}$`));
    }
    await expect(page.getByRole('main')).toBeFocused({ timeout: 5_000 });
  }).toPass();
  const link = page.getByRole('link', { name: 'web', exact: true });
  await link.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('web');
  await expect(page.getByRole('main')).toBeFocused();
  await page.goBack();
  await expect(link).toBeVisible();
  await expect(page.getByRole('main')).toBeFocused();

  await page.getByRole('link', { name: 'Logs', exact: true }).press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('invite');
  await page.getByRole('option', { name: 'Members' }).waitFor();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/members$/);
  await expect(page.getByRole('main')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Help with this page' })).toBeFocused();
});

test('what is nearest gets the focus of a row that its own button removes', async ({ page, home, db }) => {
  for (const name of ['ann', 'bob'])
    await operate(db, createInvitation, {
      workspace: home.slug,
      email: `${name}@${home.slug}.example`,
      role: 'viewer',
    });
  // Until the script that keeps the place is loaded, too.
  await page.goto(`/${home.slug}/members`);
  await page.waitForLoadState('networkidle');
  const cancel = page.getByRole('button', { name: /^Cancel the invitation of/ });
  await cancel.first().press('Enter');
  await expect(cancel).toHaveCount(1);
  await expect(page.getByRole('row').filter({ has: cancel }).locator(':focus')).toHaveCount(1);
  await cancel.press('Enter');
  await expect(cancel).toHaveCount(0);
  await expect(page.getByRole('main').locator(':focus')).toHaveCount(1);
});

test('the button of a form that is built again when it is saved keeps the focus', async ({ page, home }) => {
  await page.goto(`/${home.slug}/alerts`);
  await page.waitForLoadState('networkidle');
  const form = page.getByRole('region', { name: 'What to alert about' });
  const choice = form.getByRole('checkbox').first();
  const before = await choice.isChecked();
  await choice.press('Space');
  await form.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(page.getByText('Alerts saved')).toBeVisible();
  await expect(form.getByRole('button', { name: 'Save' })).toBeFocused();
  expect(await choice.isChecked()).toBe(!before);
});

test('the button of a form that is refused passes the focus to the field that is wrong', async ({
  page,
  home,
  db,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  await page.goto(`/operator/workspaces/${home.slug}`);
  const form = page.getByRole('region', { name: 'Suspension' });
  await form.getByRole('button', { name: 'Suspend workspace' }).press('Enter');
  await expect(form.getByLabel('Reason')).toBeFocused();
  await expect(form.getByText('Required')).toBeVisible();
  await page.keyboard.type('Unpaid');
  await form.getByLabel('Contact').fill('help@example.com');
  await page.keyboard.press('Enter');
  await expect(form.getByText('Refuse every call')).toBeVisible();
  await expect(form.getByText('Required')).toHaveCount(0);

  await page.keyboard.press('Control+k');
  await page.keyboard.type('providers test');
  await page.getByRole('option', { name: 'Providers' }).waitFor();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/operator\/providers$/);
});

test('a form that is refused before the rest of the page is loaded passes the focus on later', async ({
  page,
  home,
  db,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  const { promise: through, resolve: letThrough } = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await page.route('**/_next/static/**/*.js', async (route) => {
    const response = await route.fetch();
    if ((await response.text()).includes('attributeFilter:["aria-invalid"]')) {
      held.resolve();
      await through;
    }
    await route.fulfill({ response });
  });
  await page.goto(`/operator/workspaces/${home.slug}`);
  await held.promise;
  const form = page.getByRole('region', { name: 'Suspension' });
  const button = form.getByRole('button', { name: 'Suspend workspace' });
  await button.press('Enter');
  await expect(form.getByText('Required')).toBeVisible();
  await expect(button).toBeFocused();
  letThrough();
  await expect(form.getByLabel('Reason')).toBeFocused();
});

test('a key opens a menu at its first item, and no shortcut leaves a key that is shown once', async ({
  page,
  home,
  db,
}) => {
  await makeKey(db, home, 'web');
  await openKeys(page, home);
  await page.getByRole('button', { name: 'Actions for web' }).press('Enter');
  await expect(page.getByRole('menuitem', { name: 'View calls' })).toBeFocused();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Create key' }).press('Enter');
  await page.getByLabel('Name', { exact: true }).fill('once');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('secret')).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('logs');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('secret')).toBeVisible();
  await expect(page.getByRole('dialog', { name: 'Search and commands' })).toHaveCount(0);
});
