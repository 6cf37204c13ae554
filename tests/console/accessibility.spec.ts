import { expect } from '@playwright/test';
import { makeKey, openKeys, test } from '#tests/console/home';
import {
  callGateway,
  closeSecret,
  createKey,
  expectAccessibleInEachLook,
  expectNothingWider,
  fillSignIn,
  inDatabase,
} from '#tests/console/visit';

test.describe('320 px wide', () => {
  test.use({ viewport: { width: 320, height: 640 } });

  test('no page scrolls sideways, whatever strangers wrote', async ({ page, home }) => {
    await openKeys(page, home);
    const key = await createKey(page, 'n'.repeat(100));
    await expectNothingWider(page);
    await closeSecret(page);
    await expectNothingWider(page);
    const answer = await callGateway(key, 'm'.repeat(1000));
    const id = answer.headers.get('x-request-id') ?? '';
    await expect(async () => {
      expect((await page.goto(`/${home.slug}/logs/${id}`))?.status()).toBe(200);
    }).toPass({ timeout: 60_000 });
    await inDatabase(
      `UPDATE call SET error_code = repeat('e', 300), user_agent = repeat('u', 256), flags = ARRAY[repeat('f', 80)],
         lines = '[["input",123456789,"1"]]',
         attempts = json_build_array(json_build_array(repeat('i', 300), 1, 2, NULL, repeat('e', 300), repeat('p', 80),
           repeat('m', 300)))
       WHERE id = '${id}'`,
    );
    await page.reload();
    await expectNothingWider(page);
    await page.goto(`/${home.slug}/logs`);
    await expect(page.getByRole('table')).toBeVisible();
    await expectNothingWider(page);
  });
});

test.describe('light on a desk and dark on a phone', () => {
  test('the sign-in page is accessible, its refusal too', async ({ page }) => {
    await page.goto('/sign-in');
    await expectAccessibleInEachLook(page);
    await fillSignIn(page, 'nobody@example.com', 'not it');
    await expect(page.getByRole('alert').filter({ hasText: 'not right' })).toBeVisible();
    await expectAccessibleInEachLook(page);
  });

  test('signing up, forgotten passwords, the first run and one’s account are accessible', async ({
    page,
    home,
    browser,
  }) => {
    await page.goto('/account');
    await expectAccessibleInEachLook(page);
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await expectAccessibleInEachLook(page);
    await page.goto(`/${home.slug}`);
    await expect(page.getByText('Waiting for your first call')).toBeVisible();
    await expectAccessibleInEachLook(page);
    const strangers = await browser.newContext();
    const stranger = await strangers.newPage();
    for (const path of ['/sign-up', '/forgot-password', '/reset?token=x', '/verify?token=x']) {
      await stranger.goto(new URL(path, page.url()).href);
      await expectAccessibleInEachLook(stranger);
    }
    await stranger.getByRole('button', { name: 'Verify my address' }).click();
    await expect(stranger.getByRole('alert').filter({ hasText: 'link' })).toBeVisible();
    await expectAccessibleInEachLook(stranger);
    await strangers.close();
  });

  test('keys and their dialogs are accessible', async ({ page, home }) => {
    await openKeys(page, home);
    await expectAccessibleInEachLook(page);
    await page.getByRole('button', { name: 'Create key' }).click();
    await expectAccessibleInEachLook(page);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    const name = 'axe';
    await createKey(page, name);
    await expectAccessibleInEachLook(page);
    await closeSecret(page);
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await expect(page.getByRole('dialog', { name: `Revoke ${name}?` })).toBeVisible();
    await expectAccessibleInEachLook(page);
  });

  test('the models and the documentation are accessible', async ({ page, home }) => {
    await page.goto('/models?compare=sandbox/mini,sandbox/echo');
    await expect(page.getByRole('heading', { name: 'Comparison of 2' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    await page.goto(`/${home.slug}/models/sandbox/tiers`);
    await expect(page.getByRole('heading', { name: 'Offers' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    for (const path of ['errors', 'management-api']) {
      await page.goto(`/docs/${path}`);
      await expectAccessibleInEachLook(page);
    }
  });

  test('routing is accessible', async ({ page, home }) => {
    await page.goto(`/${home.slug}/routing`);
    await page.getByRole('combobox', { name: 'Add a fallback model' }).fill('mini');
    await page.getByRole('option', { name: 'sandbox/mini' }).click();
    await expect(page.getByRole('list', { name: 'Candidates' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    await page.getByRole('textbox', { name: 'Connect' }).fill('5');
    await expect(page.getByText('This is at least 10 ms: leave it out for the default.')).toBeVisible();
    await expectAccessibleInEachLook(page);
  });

  test('the log and a call are accessible', async ({ page, home }) => {
    await openKeys(page, home);
    const key = await createKey(page, 'calls');
    const id = (await callGateway(key)).headers.get('x-request-id') ?? '';
    await closeSecret(page);
    await expect(async () => {
      expect((await page.goto(`/${home.slug}/logs/${id}`))?.status()).toBe(200);
    }).toPass({ timeout: 60_000 });
    await expectAccessibleInEachLook(page);
    await page.goto(`/${home.slug}/logs`);
    await expect(page.getByRole('table')).toBeVisible();
    await expectAccessibleInEachLook(page);
    await page.goto(`/${home.slug}/logs?id=ffff`);
    await expect(page.getByRole('heading', { name: 'No call matches' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    await page.goto(`/${home.slug}/nothing/here`);
    await expectAccessibleInEachLook(page);
  });

  test('the overview and usage are accessible', async ({ page, home, db }) => {
    const key = await makeKey(db, home, 'usage');
    await page.goto(`/${home.slug}`);
    await expectAccessibleInEachLook(page);
    await callGateway(key);
    await expect(async () => {
      await page.goto(`/${home.slug}`);
      await expect(page.getByRole('region', { name: 'Calls' }).getByRole('row')).toHaveCount(2, {
        timeout: 1_500,
      });
    }).toPass({ timeout: 60_000 });
    await expect(page.locator('.recharts-surface').first()).toBeVisible();
    await expectAccessibleInEachLook(page);
    await page.goto(`/${home.slug}/usage?metric=requests&by=outcome&range=24h&table=time`);
    await expect(page.locator('.recharts-surface').first()).toBeVisible();
    await expectAccessibleInEachLook(page);
  });

  test('members, management keys, the audit log and settings are accessible', async ({ page, home }) => {
    await page.goto(`/${home.slug}/members`);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await expect(page.getByRole('dialog', { name: 'Invite people' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    for (const [path, heading] of [
      ['management-keys', 'Management keys'],
      ['audit', 'Audit log'],
      ['settings', 'Settings'],
      ['alerts', 'Alerts'],
    ]) {
      await page.goto(`/${home.slug}/${path}`);
      await expect(page.getByRole('heading', { level: 1, name: heading ?? '' })).toBeVisible();
      await expectAccessibleInEachLook(page);
    }
  });
});
