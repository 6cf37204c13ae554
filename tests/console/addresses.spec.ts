import { expect } from 'playwright/test';
import { test } from '#tests/console/home';
import { inDatabase } from '#tests/console/visit';

test('a trailing slash redirects once, with or without a session', async ({ page, request, home }) => {
  for (const path of ['/sign-in/', `/${home.slug}/keys/?filter=a`]) {
    const answer = await request.get(path, { maxRedirects: 0 });
    const plain = path.replace(/\/+(?=\?|$)/, '');
    const to = new URL(answer.headers().location ?? '', 'http://x');
    expect([answer.status(), to.pathname + to.search]).toEqual([308, plain]);
  }
  await page.goto(`/${home.slug}/keys/`);
  await expect(page).toHaveURL(new RegExp(`/${home.slug}/keys$`));
});

test('favicon, robots.txt and the logo need no session', async ({ request }) => {
  for (const [path, type] of [
    ['/favicon.ico', 'image/x-icon'],
    ['/robots.txt', 'text/plain'],
    ['/logo.svg', 'image/svg+xml'],
    ['/icon.svg', 'image/svg+xml'],
  ] as const) {
    const answer = await request.get(path, { maxRedirects: 0 });
    expect([path, answer.status()]).toEqual([path, 200]);
    expect(answer.headers()['content-type']).toContain(type);
    expect((await answer.body()).length).toBeGreaterThan(20);
  }
});

test('a former address of a workspace redirects to the same page under the current one', async ({
  page,
  home,
}) => {
  await inDatabase(`INSERT INTO former_slug (slug, workspace_id) VALUES ('files', '${home.id}')`);
  await page.goto('/files/logs?status=200');
  await expect(page).toHaveURL(new RegExp(`/${home.slug}/logs\\?status=200$`));
});
