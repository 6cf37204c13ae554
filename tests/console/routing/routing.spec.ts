import { expect, type Page } from 'playwright/test';
import { addPerson, enter, type Home, makeKey, test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';
import { setPolicy } from '#tests/support/control/operate';

const openRouting = (page: Page, { slug }: Home) => page.goto(`/${slug}/routing`);

/** Chooses a name by keyboard in a box that adds names. */
async function add(page: Page, label: string, name: string): Promise<void> {
  const box = page.getByRole('combobox', { name: label });
  await box.focus();
  await page.keyboard.type(name);
  await expect(page.getByRole('option', { name, exact: true })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: `Remove ${name}`, exact: true })).toBeVisible();
}

test('a fallback chain can be built, published and rolled back by keyboard only, and calls follow it', async ({
  page,
  home,
  db,
}) => {
  const key = await makeKey(db, home, 'routed');
  await openRouting(page, home);
  await add(page, 'Add a fallback model', 'sandbox/mini');
  await add(page, 'Add a fallback model', 'sandbox/fault-status-529');
  await page.getByRole('button', { name: 'Move sandbox/fault-status-529, number 3' }).focus();
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('button', { name: 'Move sandbox/fault-status-529, number 2' })).toBeFocused();
  await expect(page.getByRole('button', { name: 'Publish…' })).toBeEnabled();
  await page.getByRole('button', { name: 'Publish…' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Publish version 1?' });
  await expect(dialog).toContainText('added sandbox/fault-status-529 as number 2');
  await dialog.getByRole('button', { name: 'Publish' }).press('Enter');
  await expect(page.getByText('Version 1 is in effect', { exact: true })).toBeVisible();
  const answer = await callGateway(key, 'sandbox/fault-status-500');
  expect([answer.status, answer.headers.get('x-answered-model'), answer.headers.get('x-attempts')]).toEqual([
    200,
    'sandbox/mini',
    '3',
  ]);
  await page.getByRole('button', { name: 'Remove sandbox/mini' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Publish…' })).toBeEnabled();
  await page.getByRole('button', { name: 'Publish…' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).press('Enter');
  await expect(page.getByText('Version 2 in effect')).toBeVisible();
  expect((await callGateway(key, 'sandbox/fault-status-500')).status).toBe(529);
  await page.getByRole('button', { name: 'Roll back to 1' }).press('Enter');
  await expect(page.getByText('Version 3 in effect')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Move sandbox/mini, number 3' })).toBeVisible();
  expect((await callGateway(key, 'sandbox/fault-status-500')).status).toBe(200);
});

test('when two people edit a policy, the second is told and the changes are merged', async ({
  page,
  browser,
  home,
  db,
}) => {
  const context = await browser.newContext();
  await enter(context, await addPerson(db, home.slug, 'developer'));
  const other = await context.newPage();
  for (const one of [page, other]) {
    await openRouting(one, home);
    await add(one, 'Add a fallback model', 'sandbox/mini');
  }
  await add(other, 'Add to provider order', 'sandbox');
  await other.getByRole('button', { name: 'Save draft' }).click();
  await expect(other.getByText('Draft saved')).toBeVisible();
  await add(page, 'Add a fallback model', 'sandbox/free');
  await page.getByRole('button', { name: 'Save draft' }).click();
  const notice = page.getByRole('alert').filter({ hasText: 'Another draft' });
  await expect(notice).toContainText(`developer@${home.slug}.example`);
  await expect(notice).toContainText('You both changed fallback models. Your changes are kept below.');
  await expect(page.getByRole('button', { name: 'Remove sandbox/free' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Move sandbox, number 1' })).toBeVisible();
  await page.getByRole('button', { name: 'Save draft' }).click();
  await expect(page.getByText('Draft saved')).toBeVisible();
  await context.close();
});

test('a pasted request is explained with the draft, which survives a reload, and errors are at their fields', async ({
  page,
  home,
}) => {
  await openRouting(page, home);
  const panel = page.getByRole('region', { name: 'Explain a request' });
  await panel
    .getByRole('textbox')
    .fill(
      'POST /v1/messages\n\n{"model":"sandbox/echo","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}',
    );
  await panel.getByRole('button', { name: 'Explain' }).click();
  await expect(panel).toContainText('sandbox/echo as Messages');
  await add(page, 'Add a fallback model', 'sandbox/only-chat');
  const candidates = panel.getByRole('list', { name: 'Candidates' });
  await expect(candidates).toContainText('sandbox/only-chatTranslated to chat');
  await panel.getByRole('button', { name: 'In effect' }).click();
  await expect(candidates).not.toContainText('sandbox/only-chat');
  await page.getByRole('combobox', { name: 'Translation' }).selectOption('Never');
  await page.getByRole('textbox', { name: 'Connect' }).fill('5');
  await expect(page.getByText('Write a time with its unit, such as 30 s or 2 min.')).toBeVisible();
  await page.getByRole('textbox', { name: 'Connect' }).fill('5 ms');
  await expect(page.getByText('This must be at least 10 ms: leave it out for the default.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Publish…' })).toBeDisabled();
  await page.reload();
  await expect(page.getByText('Your unsaved changes were restored.')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Connect' })).toHaveValue('5 ms');
  await page.getByRole('button', { name: 'JSON' }).click();
  const json = page.getByRole('textbox', { name: 'Policy as JSON' });
  await expect(json).toHaveValue(/"translate": "never",\s*"timeouts": \{\s*"connectMs": 5/);
  await json.fill('{ "translate": "fallback", "aliases": { "smart": ["sandbox/echo", "sandbox/mini"] } }');
  await page.getByRole('button', { name: 'Form' }).click();
  await expect(page.getByRole('region', { name: 'Alias smart' })).toContainText('sandbox/mini');
  await expect(page.getByRole('combobox', { name: 'Translation' })).toHaveValue('fallback');
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByRole('region', { name: 'Alias smart' })).toHaveCount(0);
});

test('a model’s policy inherits each setting from the default, and read-only members are told so', async ({
  page,
  context,
  home,
  db,
}) => {
  await setPolicy(db, { workspace: home.slug, policy: { maxAttempts: 2, order: ['sandbox'] } });
  await enter(context, await addPerson(db, home.slug, 'viewer'));
  await page.goto(`/${home.slug}/routing?model=sandbox%2Fecho`);
  await expect(page.getByText('Inherited: sandbox', { exact: true })).toBeVisible();
  await expect(page.getByText('Your role is viewer.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Publish…' })).toHaveCount(0);
});

test('a model’s policy with only unsaved changes stays in the list of policies, and the best match is the first name', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/routing?model=sandbox%2Fecho`);
  await page.getByRole('button', { name: 'Override sort the rest' }).click();
  await expect(page.getByRole('button', { name: 'Publish…' })).toBeEnabled();
  const policies = page.getByRole('navigation', { name: 'Policies' });
  await policies.getByRole('link', { name: 'Default' }).click();
  await expect(policies.getByRole('link', { name: 'Default' })).toHaveAttribute('aria-current', 'page');
  await expect(policies.getByRole('link', { name: /^sandbox\/echo\s*unsaved$/ })).toBeVisible();
  const box = page.getByRole('combobox', { name: 'Add a fallback model' });
  await box.focus();
  await page.keyboard.type('mini');
  await expect(page.getByRole('option').first()).toHaveText('sandbox/mini');
});
