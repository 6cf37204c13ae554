import { expect } from 'playwright/test';
import { makeKey, openKeys, test } from '#tests/console/home';
import { inDatabase } from '#tests/console/visit';

test('a hundred keys are shown in pages, and a key can be found by any visible part of it', async ({
  page,
  home,
  db,
}) => {
  const key = await makeKey(db, home, 'needle');
  await inDatabase(
    `INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end, models)
     SELECT gen_random_uuid(), w.id, 'straw ' || n, decode(md5(w.slug || n), 'hex'), 'mg_stra', 'w' || n, '{}'
     FROM workspace w, generate_series(100, 199) n WHERE w.slug = '${home.slug}'`,
  );
  const ahead: string[] = [];
  page.on('request', (request) => {
    if (request.headers()['next-router-prefetch']) ahead.push(new URL(request.url()).pathname);
  });
  await openKeys(page, home);
  const rows = page.getByRole('table').getByRole('row');
  await expect(rows).toHaveCount(51);
  await page.waitForLoadState('networkidle');
  // The list must not prefetch the log of each key, nor every page of the sidebar.
  expect(ahead.filter((path) => path !== `/${home.slug}/keys`)).toEqual([]);
  await page.getByRole('link', { name: 'Older' }).click();
  await expect(page).toHaveURL(/after=/);
  await expect(page.getByRole('link', { name: 'Newest' })).toBeVisible();

  const search = page.getByRole('searchbox');
  await search.fill(` ${key} `);
  await search.press('Enter');
  await expect(rows).toHaveCount(2);
  await expect(rows.last()).toContainText('needle');
  expect(decodeURIComponent(page.url())).toContain(`q=${key.slice(0, 7)}…${key.slice(-4)}`);
  expect(page.url()).not.toContain(key);
  await search.fill('STRAW 15');
  await search.press('Enter');
  await expect(rows).toHaveCount(11);
  await search.fill('no such key');
  await search.press('Enter');
  await expect(page.getByRole('heading', { name: 'No matching keys' })).toBeVisible();
  await page.getByRole('link', { name: 'Show all keys' }).click();
  await expect(rows).toHaveCount(51);
});
