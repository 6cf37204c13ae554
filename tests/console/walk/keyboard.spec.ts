import { expect, type Locator, type Page } from 'playwright/test';
import { test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';

/** No page has more stops above what these tests look for. */
const mostStops = 120;

/** Presses Tab until an element has the focus, as a user without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let stop = 0; stop < mostStops; stop += 1) {
    if (await target.evaluate((one) => one === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target}`);
}

test('the first key with a daily cap, the search for its call and an invitation need only a keyboard', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/keys`);
  const main = page.getByRole('main');
  await tabTo(page, main.getByRole('button', { name: 'Create key' }).first());
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog');
  await tabTo(page, form.getByLabel('Name', { exact: true }));
  await page.keyboard.type('by keyboard');
  await tabTo(page, form.locator('summary'));
  await page.keyboard.press('Enter');
  await tabTo(page, form.getByLabel('Per day'));
  await page.keyboard.type('5');
  await page.keyboard.press('Enter');
  const secret = page.getByTestId('secret');
  await expect(secret).toBeVisible();
  const key = (await secret.textContent()) ?? '';
  const saved = page.getByRole('button', { name: 'I’ve saved it' });
  await expect(saved).toBeEnabled();
  await tabTo(page, saved);
  await page.keyboard.press('Enter');
  await expect(secret).toHaveCount(0);
  await expect(page.getByRole('row').filter({ hasText: 'by keyboard' })).toContainText('$5.00 a day');

  const answer = await callGateway(key);
  const id = answer.headers.get('x-request-id') ?? '';
  await expect(async () => {
    expect((await page.request.get(`/${home.slug}/logs/${id}`)).status()).toBe(200);
  }).toPass({ timeout: 120_000 });
  await page.keyboard.press('Control+k');
  // The palette loads now, and what is typed meanwhile is not lost.
  await page.keyboard.type(id);
  await page.getByRole('option', { name: new RegExp(id.slice(0, 8)) }).waitFor();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Call ${id}`);

  await page.goto(`/${home.slug}/members`);
  await tabTo(page, page.getByRole('button', { name: 'Invite', exact: true }));
  await page.keyboard.press('Enter');
  const people = page.getByRole('dialog', { name: 'Invite people' });
  await tabTo(page, people.getByLabel('Email addresses'));
  await page.keyboard.type(`one@${home.slug}.example`);
  await tabTo(page, people.getByRole('button', { name: 'Create invitations' }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('row').filter({ hasText: `one@${home.slug}` })).toBeVisible();
});
