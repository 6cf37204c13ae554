import { decode, encode } from 'next-auth/jwt';
import { expect } from 'playwright/test';
import { makeHome, openKeys, sessionSecret, test } from '#tests/console/home';
import { fillSignIn, inDatabase, signIn, started } from '#tests/console/visit';

test('a wrong password and an unknown address get the same error', async ({ page }) => {
  await page.goto('/sign-in');
  await fillSignIn(page, started('EMAIL'), 'not it');
  const message = page.getByRole('alert').filter({ hasText: 'Incorrect email or password' });
  const known = await message.textContent();
  await page.reload();
  await fillSignIn(page, 'nobody@example.com', 'not it');
  expect(await message.textContent()).toBe(known);
});

test('signing in leads to the requested page', async ({ page }) => {
  await page.goto('/demo/logs?status=4xx');
  await expect(page).toHaveURL(/\/sign-in\?callbackUrl=/);
  await fillSignIn(page);
  await page.waitForURL('**/demo/logs?status=4xx');
});

test('signing in never redirects to another site', async ({ page }) => {
  await page.goto(`/sign-in?callbackUrl=${encodeURIComponent('//evil.example/')}`);
  await fillSignIn(page);
  await page.waitForURL(`${started('URL')}/demo`);
});

test('another person’s workspace looks like one that does not exist', async ({ page, home, db }) => {
  const others = await makeHome(db);
  expect((await page.goto(`/${home.slug}/keys`))?.status()).toBe(200);
  const pages: string[] = [];
  for (const slug of [others.slug, 'no-such-workspace']) {
    const answer = await page.goto(`/${slug}/keys`);
    expect(answer?.status()).toBe(404);
    pages.push((await page.getByRole('main').textContent()) ?? '');
  }
  expect(pages[0]).toBe(pages[1]);
  expect(pages[0]).toContain('Page not found');
});

test('signing out ends the session and copies of its cookie, but no other session', async ({
  page,
  browser,
}) => {
  const elsewhere = await browser.newContext();
  const other = await elsewhere.newPage();
  await signIn(other);
  await signIn(page);
  const copy = await page.context().cookies();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL('**/sign-in');
  await page.goto('/demo/keys');
  await expect(page).toHaveURL(/\/sign-in\?callbackUrl=%2Fdemo%2Fkeys$/);
  await page.context().addCookies(copy);
  await page.goto('/demo/keys');
  await expect(page).toHaveURL(/\/sign-in\?callbackUrl=%2Fdemo%2Fkeys$/);
  await other.goto('/demo/logs');
  await expect(other.getByRole('heading', { name: 'Logs', level: 1 })).toBeVisible();
  await elsewhere.close();
});

test('a session ends a week after it began, however often its cookie was renewed', async ({ page }) => {
  const beforeMs = Date.now();
  await signIn(page);
  const afterMs = Date.now();
  const secret = sessionSecret();
  const cookie = (await page.context().cookies()).find(({ name }) => name.endsWith('session-token'));
  const token = await decode({ token: cookie?.value ?? '', secret });
  if (!cookie || !token) throw new Error('the session’s cookie cannot be read');
  const weekMs = 7 * 24 * 3_600_000;
  expect(token.endsAtMs).toBeGreaterThan(beforeMs + weekMs - 1_000);
  expect(token.endsAtMs).toBeLessThan(afterMs + weekMs + 1_000);
  // Encoded again, it is valid for another week, like a cookie that next-auth renews.
  const renewed = (endsAtMs: number) => encode({ token: { ...token, endsAtMs }, secret });
  await page.context().addCookies([{ ...cookie, value: await renewed(Date.now() + 3_600_000) }]);
  await page.goto('/demo/keys');
  await expect(page).toHaveURL(/\/demo\/keys$/);
  await page.context().addCookies([{ ...cookie, value: await renewed(Date.now() - 1) }]);
  await page.goto('/demo/keys');
  await expect(page).toHaveURL(/\/sign-in\?callbackUrl=%2Fdemo%2Fkeys$/);
});

test('all sessions of a user end when their session version increases', async ({ page, home }) => {
  await openKeys(page, home);
  await expect(page.getByRole('button', { name: 'Account' })).toBeVisible();
  await inDatabase(`UPDATE "user" SET session_version = session_version + 1 WHERE id = '${home.owner.id}'`);
  await page.goto(`/${home.slug}/logs`);
  await expect(page).toHaveURL(new RegExp(`/sign-in\\?callbackUrl=%2F${home.slug}%2Flogs$`));
});

test('console pages are never stored and cannot be framed', async ({ page, home }) => {
  const headers = (await page.goto(`/${home.slug}/keys`))?.headers() ?? {};
  expect(headers['cache-control']).toContain('no-store');
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(headers['content-security-policy']).toMatch(/script-src 'self' 'nonce-[^']+' 'strict-dynamic'/);
  expect(headers['x-content-type-options']).toBe('nosniff');
});
