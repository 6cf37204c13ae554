import { expect } from 'playwright/test';
import { addPerson, enter, makeHome, test } from '#tests/console/home';

test('an operator views a workspace, adds promo credit and suspends it, by keyboard only', async ({
  page,
  home,
  db,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  const customer = await makeHome(db);
  await page.goto(`/operator/workspaces?search=${customer.slug}`);
  await page
    .getByRole('table')
    .getByRole('link', { name: /^Home / })
    .focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Active');
  await page.getByRole('region', { name: 'Promo credit', exact: true }).getByLabel('Amount').focus();
  await page.keyboard.type('7');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Welcome');
  // A second submission before the page knows about the first adds nothing (contract: money/own-ref).
  await page.locator(':focus').evaluate((box: HTMLInputElement) => {
    box.form?.requestSubmit();
    box.form?.requestSubmit();
  });
  await expect(page.getByRole('region', { name: 'Funds and limits' })).toContainText('$107.00');
  await expect(page.getByRole('button', { name: 'Add promo credit' })).toBeEnabled();
  await page.getByRole('region', { name: 'Promo credit', exact: true }).getByLabel('Amount').focus();
  await page.keyboard.type('1');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Welcome');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Funds and limits' })).toContainText('$108.00');
  // What a typing error would do stands there before it is done.
  const adjustment = page.getByRole('region', { name: 'Manual adjustment' });
  await adjustment.getByLabel('Amount').fill('-12345678.9');
  await adjustment.getByLabel('Reason').fill('a slip');
  await page.keyboard.press('Enter');
  await expect(adjustment).toContainText('The balance changes from $8.00 to −$12,345,670.90.');
  await adjustment.getByRole('button', { name: 'Cancel' }).press('Enter');
  const suspension = page.getByRole('region', { name: 'Suspension' });
  const suspend = suspension.getByRole('button', { name: 'Suspend workspace' });
  await suspend.press('Enter');
  await expect(suspension).toContainText('Required: the members of the workspace read it.');
  await suspension.getByLabel('Reason').fill('Unpaid invoice');
  await suspension.getByLabel('Contact').fill('support@example.com');
  await page.keyboard.press('Enter');
  await suspension.getByRole('button', { name: 'Cancel' }).press('Enter');
  await expect(suspension.getByRole('button', { name: 'Cancel' })).toHaveCount(0);
  await expect(suspend).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(suspension.getByRole('button', { name: 'Cancel' })).toBeVisible();
  await expect(suspend).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Suspended');
  await expect(suspension.getByLabel('Reason')).toHaveValue('Unpaid invoice');
  await expect(page.locator(':focus')).toBeVisible();
  expect(await db.prisma.audit.count({ where: { workspaceId: customer.id, actor: home.owner.id } })).toBe(3);
});

test('an announcement is shown on every page until it is dismissed, and incidents are public', async ({
  page,
  home,
  db,
  context,
  browser,
}) => {
  await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
  await page.goto('/operator/announcements');
  const text = `The database moves, says ${home.slug}.`;
  await page.getByLabel('Text').fill(text);
  await page.getByRole('button', { name: 'Publish' }).click();
  await expect(page.getByRole('row').filter({ hasText: text })).toContainText('Shown');
  await enter(context, await addPerson(db, home.slug, 'viewer'));
  await page.goto(`/${home.slug}/keys`);
  await page.getByRole('button', { name: `Dismiss: ${text}` }).press('Enter');
  await expect(page.getByText(text)).toHaveCount(0);
  await expect(page.locator(':focus')).toBeVisible();
  await expect(page.getByText(text)).toHaveCount(0);
  await expect(async () => {
    await page.reload();
    await expect(page.getByText(text)).toHaveCount(0, { timeout: 500 });
  }).toPass();
  expect((await page.goto('/operator/announcements'))?.status()).toBe(404);
  await db.prisma.announcement.deleteMany({ where: { text } });

  await enter(context, home.owner);
  await page.goto('/operator/incidents');
  const title = `Slow ${home.slug}`;
  await page.getByLabel('Title').fill(title);
  await page.getByRole('region', { name: 'New incident' }).getByLabel('Text').fill('<b>We look</b> into it.');
  await page.getByRole('button', { name: 'Open incident' }).click();
  await expect(page.getByRole('region', { name: title })).toBeVisible();
  const strangers = await browser.newContext();
  const stranger = await strangers.newPage();
  await expect(async () => {
    await stranger.goto(new URL('/status', page.url()).href);
    await expect(stranger.getByRole('region', { name: 'Open incidents' })).toContainText(title, {
      timeout: 500,
    });
  }).toPass();
  await expect(stranger.getByText('<b>We look</b> into it.')).toBeVisible();
  await strangers.close();
  await db.prisma.incident.deleteMany({ where: { title } });
});
