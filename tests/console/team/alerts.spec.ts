import { expect } from 'playwright/test';
import { createView } from '#lib/control/operations/view/operations';
import { expectAccessibleInEachLook, expectNothingWider } from '#tests/console/accessible';
import { test } from '#tests/console/home';
import { closeSecret } from '#tests/console/visit';
import { operate } from '#tests/support/control/operate';

test('a webhook can be added with a secret shown once, tested, and a delivery sent again from its log', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/alerts`);
  await page.getByRole('button', { name: 'Add webhook' }).click();
  const form = page.getByRole('dialog', { name: 'Add a webhook' });
  await form.getByLabel('Address').fill('https://169.254.169.254/');
  await form.getByRole('button', { name: 'Add webhook' }).click();
  await expect(form.getByText('This address is private')).toBeVisible();
  // A name that does not exist, so that nothing is sent.
  await form.getByLabel('Address').fill('https://nobody.invalid/hook?<b>');
  await form.getByRole('button', { name: 'Add webhook' }).click();
  await expect(page.getByTestId('secret')).toHaveText(/^whsec_[\w-]{43}$/);
  await closeSecret(page);
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.getByText('Test event sent')).toBeVisible();
  // By keyboard, because a message may cover them.
  await page.getByRole('link', { name: 'Deliveries' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Send again' })).toBeVisible();
  await page.getByRole('button', { name: 'Send again' }).press('Enter');
  await expect(page.getByText('Delivery queued again')).toBeVisible();
  await page.getByRole('checkbox', { name: /^Expiring keys/ }).press('Space');
  await expect(page.getByLabel('Bad answers above, percent')).toHaveValue('20');
  await page.getByLabel('Of rated answers at least').fill('50');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(page.getByText('Alerts saved')).toBeVisible();
});

test('a saved view is asked for by email every week, and has an alert, from the page of alerts (contract: control-plane/view-mail, control-plane/view-alerts)', async ({
  page,
  home,
  db,
}) => {
  const author = { kind: 'user', userId: home.owner.id, operator: false, address: null } as const;
  const save = (input: object) =>
    operate(db, createView, { workspace: home.slug, ...input }, 'pepper', author);
  await save({ page: 'logs', name: 'Failed calls', query: 'status=5xx', shared: true });
  await save({ page: 'usage', name: 'Mine', query: 'by=key' });
  await page.goto(`/${home.slug}/alerts#saved-views`);
  const section = page.getByRole('region', { name: 'Saved views' });
  await section.getByRole('button', { name: 'Email weekly: Failed calls' }).press('Enter');
  await expect(page.getByText('You get an email every Monday')).toBeVisible();
  await expect(section.getByRole('button', { name: 'Stop weekly email: Failed calls' })).toBeVisible();
  await expect(section.getByRole('button', { name: 'Set alert: Mine' })).toHaveCount(0);
  await section.getByRole('button', { name: 'Set alert: Failed calls' }).press('Enter');
  const form = page.getByRole('dialog', { name: 'Alert on “Failed calls”' });
  await expect(form.getByLabel('More calls than')).toHaveValue('100');
  await form.getByLabel('More calls than').fill('-1');
  await form.getByRole('button', { name: 'Save alert' }).press('Enter');
  await expect(form.getByText('must be a whole number from 0 to 100000')).toBeVisible();
  await form.getByLabel('More calls than').fill('250');
  await form.getByLabel('Within').selectOption('The last 24 hours');
  await form.getByRole('button', { name: 'Save alert' }).press('Enter');
  await expect(section.getByText('Alert above 250 calls in the last 24 hours')).toBeVisible();
  await expectAccessibleInEachLook(page);
  await expectNothingWider(page);
  await section.getByRole('button', { name: 'End alert: Failed calls' }).press('Enter');
  await expect(section.getByText('Alert above')).toHaveCount(0);
  await section.getByRole('button', { name: 'Stop weekly email: Failed calls' }).press('Enter');
  await expect(section.getByRole('button', { name: 'Email weekly: Failed calls' })).toBeVisible();
});
