import { expect } from 'playwright/test';
import { expectAccessibleInEachLook } from '#tests/console/accessible';
import { makeKey, openKeys, test } from '#tests/console/home';
import { callGateway } from '#tests/console/visit';
import { setWorkspace } from '#tests/support/control/operate';
import { wave } from '#tools/sandbox/audio/sound';

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

test('text is spoken and can be played, and a recording is written down', async ({ page, home }) => {
  await page.goto(`/${home.slug}/playground?model=sandbox/narrator`);
  const pane = page.getByRole('region', { name: 'Model', exact: true });
  await page.getByRole('textbox', { name: 'Message' }).fill('A calm sea at night.');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const player = pane.getByLabel('Speech');
  await expect.poll(() => player.evaluate((audio: HTMLAudioElement) => audio.duration)).toBeCloseTo(1.6, 1);
  await expect(pane.getByText(/^Cost\$0\.0003/)).toBeVisible();
  await expectAccessibleInEachLook(page);

  await page.goto(`/${home.slug}/playground?model=sandbox/scribe`);
  const run = page.getByRole('button', { name: 'Run', exact: true });
  await expect(run).toBeDisabled();
  await expect(page.getByRole('button', { name: 'Record' })).toBeVisible();
  const buffer = Buffer.concat([...wave(1_600, 'A calm sea at night.')]);
  await page.locator('input[type=file]').setInputFiles({ name: 'sea.wav', mimeType: 'audio/wav', buffer });
  await run.click();
  await expect(pane.getByText('A calm sea at night.')).toBeVisible();
  await expect(pane.getByText(/^Cost\$0\.00016/)).toBeVisible();
  await pane.getByRole('button', { name: 'View code' }).click();
  await expect(page.getByText('-F file=@sea.wav')).toBeVisible();
  await page.keyboard.press('Escape');
  await expectAccessibleInEachLook(page);
  await pane.getByRole('link', { name: /^[0-9a-f-]{36}$/ }).click();
  await expect(page.getByText('1.6 s of audio').first()).toBeVisible();
});

test('texts are compared, documents are ranked and text is checked', async ({ page, home }) => {
  const pane = page.getByRole('region', { name: 'Model', exact: true });
  for (const [model, text, shown] of [
    ['sandbox/vectors', 'A calm sea\nA calm sea\nA storm', /Lines 1 and 2: 1\.0000/],
    ['sandbox/ranker', 'A calm sea\nA storm\nA calm sea', /Line 3: 1\.0000/],
    ['sandbox/moderator', 'Something FORBIDDEN', /Flagged/],
  ] as const) {
    await page.goto(`/${home.slug}/playground?model=${model}`);
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(pane.getByText(shown)).toBeVisible();
    await expect(page.getByRole('button', { name: 'Settings' })).toHaveCount(0);
  }
});
