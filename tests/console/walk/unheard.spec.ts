import { expect, type Page } from 'playwright/test';
import { makeKey, openKeys, sessionOf, test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';

/** The server does not respond while `act` runs. */
async function unheard(page: Page, act: () => Promise<void>): Promise<void> {
  await page.context().setOffline(true);
  await act();
  await page.context().setOffline(false);
}

test('a dialog opened while the server does not respond opens later, and the page stays', async ({
  page,
  home,
  db,
}) => {
  await makeKey(db, home, 'web');
  await openKeys(page, home);
  const heading = page.getByRole('heading', { name: 'API keys' });
  const late = page.getByText('Part of this page did not load');
  await unheard(page, async () => {
    await page.getByRole('button', { name: 'Actions for web' }).press('Enter');
    await expect(late).toBeVisible();
    await expect(heading).toBeVisible();
  });
  await expect(page.getByRole('menuitem', { name: 'Disable' })).toBeVisible();
  await expect(late).toHaveCount(0);
  await page.keyboard.press('Escape');
  await unheard(page, async () => {
    await page.keyboard.press('Control+k');
    await expect(late).toBeVisible();
    await expect(heading).toBeVisible();
  });
  await expect(page.getByRole('combobox', { name: 'Search or paste a request id' })).toBeFocused();
});

test('a form without a response keeps what was typed, and says so', async ({ page, home }) => {
  await page.goto(`/${home.slug}/billing`);
  const boxes = [page.getByLabel('Email when below'), page.getByRole('textbox', { name: 'Amount' })];
  for (const box of boxes) {
    await box.fill('17');
    await unheard(page, async () => {
      await box.press('Enter');
      await expect(
        page.getByRole('alert').filter({ hasText: 'No response from the gateway' }).last(),
      ).toBeVisible();
      await expect(box).toHaveAccessibleDescription(/No response from the gateway/);
    });
    await expect(box).toHaveValue('17');
  }
  await page.goto(`/${home.slug}/alerts`);
  await page.getByRole('button', { name: 'Add webhook' }).press('Enter');
  const form = page.getByRole('dialog', { name: 'Add a webhook' });
  await form.getByLabel('Address').fill('https://nobody.invalid/');
  await unheard(page, async () => {
    await form.getByLabel('Address').press('Enter');
    await expect(form.getByRole('alert')).toContainText('No response from the gateway');
  });
  await expect(form.getByLabel('Address')).toHaveValue('https://nobody.invalid/');
});

test('a failure after the dialog was closed is reported', async ({ page, home }) => {
  const { promise: through, resolve: letThrough } = Promise.withResolvers<void>();
  await page.route('**/*', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await through;
    await route.abort();
  });
  await page.goto(`/${home.slug}/settings`);
  await page.getByRole('button', { name: 'Delete workspace' }).press('Enter');
  await page.getByRole('dialog').getByRole('textbox').fill(home.slug);
  const asked = page.waitForRequest((request) => request.method() === 'POST');
  await page.keyboard.press('Enter');
  await asked;
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  letThrough();
  await expect(page.getByText('No response from the gateway')).toBeVisible();
});

test('a change without a response leaves the page as it is', async ({ page, home }) => {
  await sessionOf(home.owner);
  await page.goto('/account');
  await unheard(page, async () => {
    await page
      .getByRole('button', { name: /^Sign out / })
      .first()
      .press('Enter');
    await expect(page.getByText('No response from the gateway.')).toBeVisible();
    await page.getByRole('textbox', { name: 'Name' }).fill('still here');
  });
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveValue('still here');
});

test('without responses, the health of offers is marked as old, and a request is explained later', async ({
  page,
  home,
  db,
}) => {
  await callGateway(await makeKey(db, home, 'routed'));
  await page.goto(`/${home.slug}/routing`);
  const health = page.getByRole('table').filter({ hasText: 'sandbox/echo' });
  await expect(health).toBeVisible();
  const explain = page.getByRole('region', { name: 'Explain a request' });
  await expect(explain.getByRole('list', { name: 'Candidates' })).toBeVisible();
  await unheard(page, async () => {
    await explain.getByRole('textbox').fill('sandbox/mini');
    await explain.getByRole('button', { name: 'Explain' }).press('Enter');
    await expect(explain).toContainText('No response from the gateway');
    await expect(page.getByText('these are the last known figures')).toBeVisible();
    await expect(health).toBeVisible();
  });
  await explain.getByRole('button', { name: 'Explain' }).press('Enter');
  await expect(explain.getByRole('list', { name: 'Candidates' })).toContainText('sandbox/mini');
});

test('a page waiting for a payment keeps waiting while the server does not respond', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/billing`);
  await page.getByRole('button', { name: 'Continue to payment' }).press('Enter');
  await page.getByRole('button', { name: 'Cancel' }).press('Enter');
  // As if they had left the payment page by its other button.
  await page.waitForURL('**/billing?**canceled=true');
  await page.goto(page.url().replace('&canceled=true', ''));
  const waits = page.getByText(/Waiting for confirmation of the/);
  await expect(waits).toBeVisible();
  await unheard(page, async () => {
    await page.waitForEvent('requestfailed', (request) => !request.url().includes('/balance'));
    await page.waitForEvent('requestfailed', (request) => !request.url().includes('/balance'));
    await expect(waits).toBeVisible();
    await expect(page.getByText('connection lost, reconnecting')).toBeVisible();
  });
});

test('a polled figure is requested one request at a time, and again after an invalid response', async ({
  page,
  home,
}) => {
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/balance')) asked += 1;
  });
  const { promise: through, resolve: letThrough } = Promise.withResolvers<void>();
  await page.route('**/balance', async (route) => {
    await through;
    await route.fulfill({ body: 'Bad gateway' }).catch(() => undefined);
  });
  await page.goto(`/${home.slug}/keys`);
  await page.waitForRequest('**/balance');
  await page.evaluate(async () => {
    for (let times = 0; times < 3; times += 1) document.dispatchEvent(new Event('visibilitychange'));
    await fetch('/robots.txt');
  });
  expect(asked).toBe(1);
  letThrough();
  await page.waitForRequest('**/balance');
});
