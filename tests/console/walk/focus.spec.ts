import { expect, type Page } from 'playwright/test';
import { makeKey, openKeys, test } from '#tests/console/home';

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
