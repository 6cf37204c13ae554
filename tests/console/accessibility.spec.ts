import { expect, type Page } from 'playwright/test';
import { expectAccessible, expectAccessibleInEachLook, expectNothingWider } from '#tests/console/accessible';
import { type Home, makeKey, openKeys, test } from '#tests/console/home';
import { callGateway, closeSecret, createKey, fillSignIn, inDatabase } from '#tests/console/visit';
import { expectEscapeLeadsBack } from '#tests/console/walk/by-tab';
import { createKey as addKey } from '#tests/support/control/operate';

/** Makes a call and waits until the log has it. @returns its id. */
async function callInLog(page: Page, { slug }: Home, key: string, model?: string): Promise<string> {
  const id = (await callGateway(key, model)).headers.get('x-request-id') ?? '';
  await expect(async () => {
    expect((await page.request.get(`/${slug}/logs/${id}`)).status()).toBe(200);
  }).toPass({ timeout: 120_000 });
  return id;
}

/** Goes to another page as a link does: the document stays, so that no script has to be read again. */
async function turnTo(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => Reflect.get(window, 'next').router.push(to), path);
  await page.waitForURL((url) => url.pathname + url.search === path);
}

async function expectNothingWiderOnASmallPhone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 });
  await expectNothingWider(page);
}

test.describe('in both themes, on a phone and on a desktop', () => {
  test('public pages and their error messages are accessible', async ({ page }) => {
    await page.goto('/sign-in');
    await fillSignIn(page, 'nobody@example.com', 'not it');
    await expect(page.getByRole('alert').filter({ hasText: 'Incorrect email or password' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    for (const path of ['/sign-up', '/forgot-password', '/reset?token=x', '/welcome', '/invite?token=x']) {
      await turnTo(page, path);
      await expectAccessibleInEachLook(page);
    }
    await page.goto('/verify?token=x');
    await page.getByRole('button', { name: 'Verify address' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'link' })).toBeVisible();
    await expectAccessibleInEachLook(page);
  });

  test('the account page and the first run are accessible', async ({ page, home }) => {
    await page.goto('/account');
    await expectAccessibleInEachLook(page);
    const everywhere = page.getByRole('button', { name: 'Sign out everywhere' });
    await everywhere.click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessibleInEachLook(page);
    await expectEscapeLeadsBack(page, everywhere);
    await page.goto('/new');
    await expectAccessibleInEachLook(page);
    await page.goto(`/${home.slug}`);
    await expect(page.getByText('Waiting for your first call')).toBeVisible();
    await expectAccessibleInEachLook(page);
  });

  test('the key pages and dialogs are accessible, and a long name does not widen them', async ({
    page,
    home,
    db,
  }) => {
    const { id } = await addKey(db, { workspace: home.slug, name: 'n'.repeat(100) });
    await page.goto(`/${home.slug}/keys/${id}`);
    await expectAccessibleInEachLook(page);
    await openKeys(page, home);
    await expectAccessibleInEachLook(page);
    await expectNothingWiderOnASmallPhone(page);
    const create = page.getByRole('button', { name: 'Create key' });
    await create.click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessibleInEachLook(page);
    await expectEscapeLeadsBack(page, create);
    const name = 'axe';
    await createKey(page, name);
    await expectAccessibleInEachLook(page);
    await expectNothingWiderOnASmallPhone(page);
    await closeSecret(page);
    const actions = page.getByRole('button', { name: `Actions for ${name}` });
    await actions.click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await expect(page.getByRole('dialog', { name: `Revoke ${name}?` })).toBeVisible();
    await expectAccessibleInEachLook(page);
    await expectEscapeLeadsBack(page, actions);
  });

  test('the model pages and the documentation are accessible', async ({ page, home }) => {
    await page.goto('/models?search=sandbox&compare=sandbox/mini,sandbox/echo');
    await expect(page.getByRole('heading', { name: 'Comparison of 2' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    await page.goto(`/${home.slug}/models/sandbox/tiers`);
    await expect(page.getByRole('heading', { name: 'Offers' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    await turnTo(page, `/${home.slug}/models`);
    await expectAccessibleInEachLook(page);
    await page.goto('/models/sandbox/echo');
    await expectAccessibleInEachLook(page);
    await page.goto('/docs/errors');
    await expectAccessibleInEachLook(page);
    await turnTo(page, '/docs/changelog');
    await expectAccessibleInEachLook(page);
    await turnTo(page, '/docs/management-api');
    await expect(page.getByRole('heading', { level: 1, name: 'Management API' })).toBeVisible();
    await expectNothingWider(page);
    await page.setViewportSize({ width: 360, height: 800 });
    await expectAccessible(page);
    // Its operations are alike: every one is checked once, and three of each method in each look.
    const left = await page.locator('details[id]').evaluateAll((all) => {
      const seen: Record<string, number> = {};
      for (const one of all) {
        const [method = ''] = /^[A-Z]+/.exec(one.textContent) ?? [];
        seen[method] = (seen[method] ?? 0) + 1;
        if (seen[method] > 3) one.remove();
      }
      return Object.keys(seen).sort();
    });
    expect(left).toEqual(['DELETE', 'GET', 'PATCH', 'POST', 'PUT']);
    await expectAccessibleInEachLook(page);
  });

  test('the routing page is accessible', async ({ page, home }) => {
    await page.goto(`/${home.slug}/routing`);
    await page.getByRole('combobox', { name: 'Add a fallback model' }).fill('mini');
    await page.getByRole('option', { name: 'sandbox/mini' }).click();
    await expect(page.getByRole('list', { name: 'Candidates' })).toBeVisible();
    await page.getByRole('textbox', { name: 'Connect' }).fill('5 ms');
    await expect(page.getByText('This must be at least 10 ms: leave it out for the default.')).toBeVisible();
    await expectAccessibleInEachLook(page);
  });

  test('the log and a call’s page are accessible, and long client input does not widen them', async ({
    page,
    home,
    db,
  }) => {
    const key = await makeKey(db, home, 'calls');
    await callInLog(page, home, key);
    const id = await callInLog(page, home, key, 'm'.repeat(1000));
    await inDatabase(
      `UPDATE call SET error_code = repeat('e', 300), user_agent = repeat('u', 256), flags = ARRAY[repeat('f', 80)],
         lines = '[["input",123456789,"1"]]',
         attempts = json_build_array(json_build_array(repeat('i', 300), 1, 2, NULL, repeat('e', 300), repeat('p', 80),
           repeat('m', 300)))
       WHERE id = '${id}'`,
    );
    await page.goto(`/${home.slug}/logs/${id}`);
    await expectAccessibleInEachLook(page);
    await expectNothingWiderOnASmallPhone(page);
    await turnTo(page, `/${home.slug}/logs`);
    await expect(page.getByRole('table').getByRole('row')).toHaveCount(3);
    await expectAccessibleInEachLook(page);
    await expectNothingWiderOnASmallPhone(page);
    await turnTo(page, `/${home.slug}/logs?id=ffff`);
    await expect(page.getByRole('heading', { name: 'No matching calls' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    for (const path of ['logs/search', `logs/compare?one=${id}`]) {
      await turnTo(page, `/${home.slug}/${path}`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expectAccessibleInEachLook(page);
    }
    await page.goto(`/${home.slug}/nothing/here`);
    await expectAccessibleInEachLook(page);
  });

  test('the overview and usage pages are accessible', async ({ page, home, db }) => {
    await callInLog(page, home, await makeKey(db, home, 'usage'));
    await page.goto(`/${home.slug}`);
    await expect(page.locator('.recharts-surface').first()).toBeVisible();
    await expectAccessibleInEachLook(page);
    await turnTo(page, `/${home.slug}/usage?metric=requests&by=outcome&range=24h&table=time`);
    await expect(page.locator('.recharts-surface').first()).toBeVisible();
    await expectAccessibleInEachLook(page);
  });

  test('members, management keys, the audit log, settings and alerts are accessible', async ({
    page,
    home,
  }) => {
    await page.goto(`/${home.slug}/members`);
    await expectAccessibleInEachLook(page);
    const invite = page.getByRole('button', { name: 'Invite', exact: true });
    await invite.click();
    await expect(page.getByRole('dialog', { name: 'Invite people' })).toBeVisible();
    await expectAccessibleInEachLook(page);
    await expectEscapeLeadsBack(page, invite);
    for (const [path, heading] of [
      ['tag-budgets?value=user-17', 'User and tag budgets'],
      ['usage/tags', 'Usage by tag and end user'],
      ['management-keys', 'Management keys'],
      ['audit', 'Audit log'],
      ['settings', 'Settings'],
      ['alerts', 'Alerts'],
    ]) {
      await turnTo(page, `/${home.slug}/${path}`);
      await expect(page.getByRole('heading', { level: 1, name: heading ?? '' })).toBeVisible();
      await expectAccessibleInEachLook(page);
    }
  });

  test('the operator area and the status page are accessible', async ({ page, home, db }) => {
    await db.prisma.user.update({ where: { id: home.owner.id }, data: { operator: true } });
    await page.goto('/operator/providers');
    await expectAccessibleInEachLook(page);
    for (const path of [
      'providers/sandbox',
      'models',
      'models/sandbox/tiers',
      'price-updates',
      'catalogue',
      'workspaces',
      `workspaces/${home.slug}`,
      'announcements',
      'incidents',
      'health',
      'fleet',
      'ledger',
      'payments',
      'charges',
    ]) {
      await turnTo(page, `/operator/${path}`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expectAccessibleInEachLook(page);
    }
    await page.goto('/status');
    await expect(page.getByRole('heading', { level: 1, name: 'Status' })).toBeVisible();
    await expectAccessibleInEachLook(page);
  });
});
