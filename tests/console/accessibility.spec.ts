import { expect, test } from '@playwright/test';
import {
  callGateway,
  closeSecret,
  createKey,
  expectAccessible,
  fillSignIn,
  signIn,
  started,
} from '#tests/console/visit';

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1280, 360]) {
    test.describe(`${colorScheme}, ${width} px wide`, () => {
      test.use({ colorScheme, viewport: { width, height: 800 } });

      test('the sign-in page is accessible, its refusal too', async ({ page }) => {
        await page.goto('/sign-in');
        await expectAccessible(page);
        await fillSignIn(page, started('EMAIL'), 'not it');
        await expect(page.getByRole('alert').filter({ hasText: 'not right' })).toBeVisible();
        await expectAccessible(page);
      });

      test('keys and their dialogs are accessible', async ({ page }) => {
        await signIn(page);
        await expect(page.locator('html')).toHaveClass(new RegExp(`\\b${colorScheme}\\b`));
        await expectAccessible(page);
        await page.getByRole('button', { name: 'Create key' }).click();
        await expectAccessible(page);
        await page.keyboard.press('Escape');
        await expect(page.getByRole('dialog')).toHaveCount(0);
        const name = `axe ${colorScheme} ${width}`;
        await createKey(page, name);
        await expectAccessible(page);
        await closeSecret(page);
        await page.getByRole('button', { name: `Actions for ${name}` }).click();
        await page.getByRole('menuitem', { name: 'Revoke' }).click();
        await expect(page.getByRole('dialog', { name: `Revoke ${name}?` })).toBeVisible();
        await expectAccessible(page);
      });

      test('the log and a call are accessible', async ({ page }) => {
        await signIn(page);
        const key = await createKey(page, `calls ${colorScheme} ${width}`);
        const id = (await callGateway(key)).headers.get('x-request-id') ?? '';
        await closeSecret(page);
        await expect(async () => {
          expect((await page.goto(`/demo/logs/${id}`))?.status()).toBe(200);
        }).toPass({ timeout: 10_000 });
        await expectAccessible(page);
        await page.goto('/demo/logs');
        await expect(page.getByRole('table')).toBeVisible();
        await expectAccessible(page);
        await page.goto('/demo/logs?id=ffff');
        await expect(page.getByRole('heading', { name: 'No call matches' })).toBeVisible();
        await expectAccessible(page);
        await page.goto('/demo/nothing/here');
        await expectAccessible(page);
      });
    });
  }
}
