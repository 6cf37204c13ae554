import { expect } from 'playwright/test';
import { expectAccessibleInEachLook } from '#tests/console/accessible';
import { makeKey, openKeys, test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';
import { setWorkspace } from '#tests/support/control/operate';

test('the playground works by keyboard only: the answer streams in, is charged and is in the log', async ({
  page,
  home,
}) => {
  await page.goto(`/${home.slug}/playground?model=sandbox/echo`);
  const message = page.getByRole('textbox', { name: 'Message' });
  await message.focus();
  await page.keyboard.type('A word from the keyboard');
  await page.keyboard.press('Control+Enter');
  const model = page.getByRole('region', { name: 'Model', exact: true });
  const answer = model.getByRole('article');
  await expect(answer.getByText(/^Cost\$0\.\d+/)).toBeVisible();
  await expect(answer.getByText('A word from the keyboard')).toHaveCount(2);
  await expect(answer.getByText('Providersandbox', { exact: true })).toBeVisible();
  await expect(answer.getByText(/^Tokens\d+ in, \d+ out$/)).toBeVisible();
  await expectAccessibleInEachLook(page);
  await model.getByRole('button', { name: 'View code' }).press('Enter');
  const code = page.getByRole('dialog', { name: 'Code' });
  await code.getByRole('tab', { name: 'OpenAI, Python' }).press('Enter');
  await expect(code.getByText('client.chat.completions.create(')).toBeVisible();
  await page.keyboard.press('Escape');
  await answer.getByRole('link', { name: /^[0-9a-f-]{36}$/ }).click();
  await expect(page.getByText(`Playground of owner@${home.slug}.example`)).toBeVisible();
  await openKeys(page, home);
  await expect(page.getByText('Playground of')).toHaveCount(0);
});

test('two models run side by side, one can be stopped, images are shown, and missing funds give the API’s error', async ({
  page,
  home,
  db,
}) => {
  await page.goto(`/${home.slug}/playground?model=sandbox/echo&model2=sandbox/picture`);
  const [one, two] = ['Model', 'Second model'].map((name) => page.getByRole('region', { name, exact: true }));
  if (!one || !two) throw new Error('there are two');
  const ask = async (text: string) => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
  };
  await ask('A lighthouse [[pace/400/1000]]');
  await expect(two.getByRole('img', { name: 'Picture 1: A lighthouse' })).toBeVisible();
  await expect(one.getByText('First byte')).toBeVisible();
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(one.getByText('Stopped.')).toBeVisible();
  const key = await makeKey(db, home, 'looks whether anything is left');
  await setWorkspace(db, { workspace: home.slug, credit: '0' });
  await expect.poll(async () => (await callGateway(key)).status).toBe(402);
  await two.getByRole('button', { name: 'Run again' }).click();
  await expect(two.getByText('402 insufficient_balance')).toBeVisible();
  await expect(two.getByRole('link', { name: 'Billing' })).toHaveAttribute('href', `/${home.slug}/billing`);
});

test('Compare adds a second model, shows both prices, and keeps both answers', async ({ page, home }) => {
  await page.goto(`/${home.slug}/playground?model=sandbox/echo`);
  await page.getByRole('button', { name: 'Compare' }).click();
  const [one, two] = ['Model', 'Second model'].map((name) => page.getByRole('region', { name, exact: true }));
  if (!one || !two) throw new Error('there are two');
  const choice = two.getByRole('combobox', { name: 'Second model', exact: true });
  await expect(choice).toHaveValue('');
  await expect(choice.locator('optgroup')).toHaveAttribute('label', 'Simulated faults');
  const ask = async (text: string) => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
  };
  await ask('Only the first');
  await expect(one.getByText(/^Cost\$0\.\d+/)).toBeVisible();
  await expect(two.getByRole('article')).toHaveCount(0);
  await choice.selectOption('sandbox/mini');
  await expect(page.getByRole('list', { name: 'Prices' }).getByRole('listitem')).toHaveText([
    /^sandbox\/echo: .* per million tokens$/,
    /^sandbox\/mini: .* per million tokens$/,
  ]);
  let loads = 0;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads += 1;
  });
  await ask('Both of you');
  await expect(two.getByText(/^Cost\$0\.\d+/)).toBeVisible();
  await expect(one.getByText(/^Cost\$0\.\d+/)).toHaveCount(2);
  await expect(one.getByText('Both of you').first()).toBeVisible();
  expect(loads).toBe(0);
});
