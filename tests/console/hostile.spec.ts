import { expect } from 'playwright/test';
import { openKeys, test } from '#tests/console/home';
import { inDatabase, started } from '#tests/console/visit';
import { createKey } from '#tests/support/control/operate';

test('the log page works with any query string', async ({ page, home }) => {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  for (const query of [
    'model=%00',
    'key=%00',
    'id=%00&after=%00',
    'after=garbage',
    'id=a&id=b&status=9xx&status=4xx',
    `model=${'x'.repeat(10_000)}`,
    'model=%ED%A0%80&after[]=1',
  ]) {
    await test.step(`?${query.slice(0, 40)}`, async () => {
      await page.goto(`/${home.slug}/logs?${query}`);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Logs');
      await expect(
        page.getByRole('heading', { name: 'No matching calls' }).or(page.getByRole('table')),
      ).toBeVisible();
      expect(faults).toEqual([]);
    });
  }
});

test('the live log refuses impossible times', async ({ page, home }) => {
  const statuses = [];
  for (const since of ['2026-01-01T00:00:00Z', '-271821-04-20T00:00:00Z', '+275760-09-13T00:00:00Z', 'now']) {
    const query = new URLSearchParams({ since });
    statuses.push((await page.request.get(`/${home.slug}/logs/new?${query}`)).status());
  }
  expect(statuses).toEqual([200, 400, 400, 400]);
});

test('an address with a NUL character is not a server error', async ({ page, home }) => {
  for (const address of ['/%00/keys', `/${home.slug}/logs/%00`, `/${home.slug}/keys?q=%00&after=%00`]) {
    const answer = await page.goto(address);
    expect([address, (answer?.status() ?? 500) < 500]).toEqual([address, true]);
    await expect(page.getByText('could not be shown')).toHaveCount(0);
  }
});

test('a failed page can be loaded again, and the navigation stays', async ({ page, home, db }) => {
  const { id } = await createKey(db, { workspace: home.slug, name: 'unreadable' });
  // A moment that no list can show.
  await inDatabase(`UPDATE api_key SET expires_at = 'infinity' WHERE id = '${id}'`);
  await openKeys(page, home);
  await expect(page.getByRole('heading', { name: 'This page could not be shown' })).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Workspace' })).toBeVisible();
  await inDatabase(`UPDATE api_key SET expires_at = NULL WHERE id = '${id}'`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('heading', { name: 'API keys' })).toBeVisible();
});

test('the sign-in form limits the size of its input, and its errors say nothing about the database', async ({
  request,
}) => {
  const address = `${started('URL')}/api/auth/callback/credentials`;
  const huge = await request.post(address, { data: 'x'.repeat(100_000), maxRedirects: 0 });
  expect(huge.status()).toBe(413);
  const { csrfToken } = await (await request.get(`${started('URL')}/api/auth/csrf`)).json();
  const form = { email: 'a\0@example.com', password: 'x', csrfToken, json: 'true' };
  const nul = await request.post(address, { form, maxRedirects: 0 });
  expect(await nul.json()).toEqual({ url: expect.stringContaining('error=CredentialsSignin') });
});

test('an invalid redirect target in form, query or cookie leads to the home page after signing in', async ({
  request,
}) => {
  const home = started('URL');
  const target = `${home}.evil.example`;
  const address = `${home}/api/auth/callback/credentials?callbackUrl=${encodeURIComponent(target)}`;
  const { csrfToken } = await (await request.get(`${home}/api/auth/csrf`)).json();
  const form = {
    email: started('EMAIL'),
    password: started('PASSWORD'),
    csrfToken,
    json: 'true',
    callbackUrl: target,
  };
  const cookies = (await request.storageState()).cookies.map(({ name, value }) => `${name}=${value}`);
  const cookie = [...cookies, `next-auth.callback-url=${encodeURIComponent(target)}`].join('; ');
  const answer = await request.post(address, { form, maxRedirects: 0, headers: { cookie } });
  expect(answer.status()).toBe(200);
  expect(await answer.json()).toEqual({ url: `${home}/` });
  expect(answer.headers()['set-cookie']).toContain('session-token');
});

test('the image resizer of Next is turned off', async ({ request }) => {
  const answer = await request.get(`${started('URL')}/_next/image?url=%2Fapi%2Fhealth&w=64&q=75`);
  expect(answer.status()).toBe(404);
});
