import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'playwright/test';
import { expectAccessibleInEachLook } from '#tests/console/accessible';
import { makeKey, test } from '#tests/console/home';
import { started } from '#tests/console/visit';
import { setWorkspace } from '#tests/support/control/operate';

test('a kept call is read, rated, compared, exported and asked again (contract: content/again, content/export)', async ({
  page,
  home,
  db,
}) => {
  const workspace = home.slug;
  await setWorkspace(db, { workspace, content: 'all' });
  const key = await makeKey(db, home, 'web');
  const call = async (question: string) => {
    const answer = await fetch(`${started('URL')}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox/echo',
        temperature: 0.5,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Hello!' },
          { role: 'user', content: question },
        ],
      }),
    });
    expect(answer.status).toBe(200);
    return answer.headers.get('x-request-id') ?? '';
  };
  const [one, other] = [await call('What’s "up"?'), await call('What is new?')];
  const show = page.getByRole('button', { name: 'Show request and answer' });
  await expect(async () => {
    await page.goto(`/${workspace}/logs/${one}`);
    await expect(show).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 60_000 });

  await test.step('rated', async () => {
    await page.getByRole('button', { name: 'Write feedback' }).click();
    await page.getByLabel('Label (optional)').fill('too short');
    await page.getByLabel('Text (optional)').fill('Say more.');
    await page.getByRole('button', { name: 'Bad answer' }).click();
    await expect(page.getByText('Say more.')).toBeVisible();
    await page.goto(`/${workspace}/logs?feedback=bad&columns=model.feedback`);
    await expect(page.getByText('too short')).toBeVisible();
  });

  await test.step('read', async () => {
    await page.goto(`/${workspace}/logs/${one}`);
    await show.click();
    await expect(page.getByRole('list', { name: 'Conversation' })).toContainText('What’s "up"?');
    await expect(page.getByRole('button', { name: 'Copy as curl' })).toBeVisible();
  });

  await test.step('asked again', async () => {
    await page.getByRole('button', { name: 'Open in playground' }).click();
    await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toHaveValue('What’s "up"?');
    await expect(page.getByText('2 earlier messages')).toBeVisible();
    expect(page.url()).not.toContain('up');
  });

  await test.step('compared', async () => {
    await page.goto(`/${workspace}/logs/compare?one=${one}`);
    await page.getByLabel('Second call').fill(other);
    await page.getByRole('button', { name: 'Compare' }).click();
    await expect(page.locator('ins').filter({ hasText: 'What is new?' }).first()).toBeVisible();
    await expect(page.locator('del').filter({ hasText: 'What’s' }).first()).toBeVisible();
  });

  await test.step('searched (contract: content/search)', async () => {
    await page.goto(`/${workspace}/logs?feedback=bad`);
    await page.getByRole('link', { name: 'Search content' }).click();
    await page.getByLabel('Text', { exact: true }).fill('WHAT’S "UP"');
    await page.getByRole('form', { name: 'Search' }).getByRole('button').click();
    await expect(page.getByText('was found in 1 of 1 calls')).toBeVisible();
    expect(page.url()).not.toMatch(/up/i);
    await expectAccessibleInEachLook(page);
    await page.getByRole('region', { name: 'Found calls' }).getByRole('link').click();
    await page.waitForURL(`**/logs/${one}`);
  });

  await test.step('exported', async () => {
    await page.goto(`/${workspace}/logs?feedback=bad`);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export content' }).click();
    const file = await readFile(await (await download).path(), 'utf8');
    const lines = file.trimEnd().split('\n');
    expect(lines).toHaveLength(1);
    const { messages } = JSON.parse(lines[0] ?? '');
    expect(messages.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
  });
});

test('a conversation of 300 turns with 20 pictures is shown whole, and is read by keyboard (contract: content/what)', async ({
  page,
  home,
  db,
}) => {
  await setWorkspace(db, { workspace: home.slug, content: 'all' });
  const key = await makeKey(db, home, 'web');
  const picture = (at: number) =>
    `data:image/png;base64,${Buffer.alloc(30_000, createHash('sha256').update(String(at)).digest()).toString('base64')}`;
  const messages = Array.from({ length: 300 }, (_, at) => {
    const text = `Turn ${at + 1}. ${'A sentence that somebody wrote. '.repeat(12)}`;
    if (at % 2 === 1) return { role: 'assistant', content: text };
    const content = [
      { type: 'text', text },
      ...(at % 30 < 4 ? [{ type: 'image_url', image_url: { url: picture(at) } }] : []),
    ];
    return { role: 'user', content };
  });
  const answer = await fetch(`${started('URL')}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages }),
  });
  expect(answer.status).toBe(200);
  const id = answer.headers.get('x-request-id') ?? '';
  const show = page.getByRole('button', { name: 'Show request and answer' });
  await expect(async () => {
    await page.goto(`/${home.slug}/logs/${id}`);
    await expect(show).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 60_000 });
  await show.press('Enter');
  const turns = page.getByRole('list', { name: 'Conversation' }).getByRole('listitem');
  await expect(turns).toHaveCount(301);
  await expect(turns.filter({ hasText: /image\/png, 30,000 bytes, SHA-256/ })).toHaveCount(20);
  await expect(turns.nth(299)).toContainText('Turn 300.');
  // What is out of sight is neither laid out nor painted, so that the page opens at once.
  const drawn = await turns.evaluateAll(
    (all) =>
      all.filter((one) => one.firstElementChild?.checkVisibility({ contentVisibilityAuto: true })).length,
  );
  expect(drawn).toBeLessThan(100);
  await expect(page.getByRole('list', { name: 'Conversation' })).toBeFocused();
  await page.keyboard.press('End');
  await expect(turns.last()).toBeInViewport();
});
