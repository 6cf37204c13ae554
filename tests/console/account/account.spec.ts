import OpenAI from 'openai';
import { test as base, expect } from 'playwright/test';
import { enter, test } from '#tests/console/home';
import { closeSecret, createKey, fillSignIn, linkInLog, onServer, started } from '#tests/console/visit';

const password = 'three random words';

base(
  'signing up by keyboard only leads to a first answered call, which appears automatically with its cost and balance',
  async ({ page }) => {
    const email = `newcomer.${Date.now()}@example.com`;
    await page.goto('/sign-in');
    await page.getByRole('link', { name: 'Create an account' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/sign-up');
    await page.getByLabel('Email').focus();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type('too short');
    await page.keyboard.press('Enter');
    await expect(page.getByText('A password must have at least 10 characters.')).toBeVisible();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/newcomer-\d+$/);
    if (onServer()) {
      await page.goto(await linkInLog(email));
      await page.getByRole('button', { name: 'Verify address' }).press('Enter');
      await expect(page.getByText('Your workspace got $5 of credit.')).toBeVisible();
      await page.getByRole('link', { name: 'Go to the console' }).press('Enter');
      await page.waitForURL(/\/newcomer-\d+$/);
    }
    await expect(page.getByText('$5.00 available.')).toBeVisible();
    const key = await createKey(page, 'first');
    await closeSecret(page);
    const client = new OpenAI({ baseURL: `${started('URL')}/v1`, apiKey: key, maxRetries: 0 });
    const call = (model: string) =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Say hello.' }] });
    await expect(call('no/such-model')).rejects.toThrow(/unknown/);
    await expect(page.getByText(/The latest call was refused: 400 model_not_allowed/)).toBeVisible();
    await call('sandbox/echo');
    await expect(page.getByText('Your first call succeeded')).toBeVisible();
    await page.getByRole('link', { name: 'View in the log' }).click();
    await expect(page.getByRole('region', { name: 'Attempts' }).getByRole('listitem')).toHaveCount(1);
    const cost = await page.getByRole('region', { name: 'Cost' }).textContent();
    const [, charged = 'no charge'] = /Charged\s*\$([\d.]+)/.exec(cost ?? '') ?? [];
    await page
      .getByRole('navigation', { name: 'Workspace' })
      .getByRole('link', { name: 'Usage' })
      .press('Enter');
    const spend = page.getByRole('navigation', { name: 'Figures' }).getByRole('link', { name: /^Spend/ });
    await expect(spend).toContainText(`$${charged}`);
    await expect(page.getByTitle(`$${(5 - Number(charged)).toFixed(9).replace(/0+$/, '')}`)).toBeVisible();
  },
);

test('a password reset link from the log works once and ends the session', async ({ page, home }) => {
  await page.goto('/forgot-password');
  await expect(page.getByText('does not send email')).toBeVisible();
  await page.getByLabel('Email').fill(home.owner.email);
  await page.getByRole('button', { name: 'Create link' }).click();
  await expect(page.getByText(`If ${home.owner.email} has an account`)).toBeVisible();
  const link = await linkInLog(home.owner.email);
  for (const said of ['The password for', 'already used']) {
    await page.goto(link);
    await page.getByRole('textbox', { name: 'New password' }).fill(password);
    await page.getByRole('button', { name: 'Set password' }).click();
    await expect(page.getByText(said)).toBeVisible();
  }
  await page.goto(`/${home.slug}/keys`);
  await expect(page).toHaveURL(/\/sign-in/);
  await fillSignIn(page, home.owner.email, password);
  await page.waitForURL(`**/${home.slug}/keys`);
});

test('changing the password ends the other sessions; signing out everywhere ends this one too', async ({
  page,
  browser,
  home,
}) => {
  const elsewhere = await browser.newContext({ baseURL: started('URL') });
  await enter(elsewhere, home.owner);
  await page.goto('/account');
  await expect(page.getByRole('row').filter({ hasText: 'This session' })).toBeVisible();
  await expect(page.getByRole('button', { name: /^Sign out Unknown device/ })).toHaveCount(1);
  await page.getByRole('textbox', { name: 'Current password' }).fill(started('PASSWORD'));
  await page.getByRole('textbox', { name: 'New password' }).fill(password);
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('1 other session ended')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Sign out Unknown device/ })).toHaveCount(0);
  const other = await elsewhere.newPage();
  await other.goto('/account');
  await expect(other).toHaveURL(/\/sign-in\?callbackUrl=%2Faccount$/);
  await elsewhere.close();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.waitForURL('**/sign-in');
  await page.goto('/account');
  await expect(page).toHaveURL(/\/sign-in/);
});
