import { expect, type Request } from 'playwright/test';
import { addPerson, enter, makeHome, makeKey, openKeys, test } from '#tests/console/home';
import { callGateway, started } from '#tests/console/visit';

/** The server action as the page sends it, so that others can send it again. */
interface Sent {
  readonly headers: Record<string, string>;
  readonly body: string;
}

function sentOf(request: Request): Sent {
  const { 'next-action': action = '', 'content-type': type = '' } = request.headers();
  return {
    headers: { 'next-action': action, 'content-type': type, accept: 'text/x-component' },
    body: request.postData() ?? '',
  };
}

test('server actions check permissions: a viewer, a stranger and another origin change nothing', async ({
  page,
  browser,
  home,
  db,
}) => {
  const key = await makeKey(db, home, 'guarded');
  await openKeys(page, home);
  const sending = page.waitForRequest((request) => request.headers()['next-action'] !== undefined);
  await page.getByRole('button', { name: 'Actions for guarded' }).click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  const { headers, body } = sentOf(await sending);
  await expect(page.getByText('guarded disabled')).toBeVisible();
  await page.getByRole('button', { name: 'Actions for guarded' }).click();
  await page.getByRole('menuitem', { name: 'Enable' }).click();
  await expect(page.getByText('guarded enabled')).toBeVisible();
  const address = `${started('URL')}/${home.slug}/keys`;
  const origin = started('URL');

  const viewer = await browser.newContext({ baseURL: origin });
  await enter(viewer, await addPerson(db, home.slug, 'viewer'));
  const asViewer = await viewer.request.post(address, { headers: { ...headers, origin }, data: body });
  expect(await asViewer.text()).toContain('Your role is viewer');

  const stranger = await browser.newContext({ baseURL: origin });
  await stranger.addCookies([{ name: 'next-auth.session-token', value: 'forged', url: origin }]);
  const asStranger = await stranger.request.post(address, { headers: { ...headers, origin }, data: body });
  expect(await asStranger.text()).toContain('Your session has ended');

  const others = await browser.newContext({ baseURL: origin });
  const theirs = await makeHome(db);
  await enter(others, theirs.owner);
  const asOthers = await others.request.post(address, { headers: { ...headers, origin }, data: body });
  expect(await asOthers.text()).toContain('no longer a member');
  const inTheirs = body.replace(`"${home.slug}"`, `"${theirs.slug}"`);
  const stolen = await others.request.post(`${origin}/${theirs.slug}/keys`, {
    headers: { ...headers, origin },
    data: inTheirs,
  });
  expect(await stolen.text()).toContain('There is no API key');
  await others.close();

  const elsewhere = { ...headers, origin: 'https://evil.example' };
  const crossSite = await page.request.post(address, { headers: elsewhere, data: body });
  expect(crossSite.ok()).toBe(false);

  expect((await callGateway(key)).status).toBe(200);
  await page.request.post(address, { headers: { ...headers, origin }, data: body });
  expect((await callGateway(key)).status).toBe(403);
  await viewer.close();
  await stranger.close();
});
