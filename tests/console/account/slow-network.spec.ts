import { expect, type Page } from 'playwright/test';
import { enter, test } from '#tests/console/home';

/** A form that is filled in and submitted before its scripts have loaded. */
interface EarlyPress {
  readonly path: string;
  readonly boxes: Readonly<Record<string, string>>;
  /** Without it, Enter in the last field. */
  readonly button?: string;
  /** Shown once the scripts have loaded. */
  readonly said: string;
}

/** Opens a page without its scripts. @returns a function that lets them through. */
async function openWithoutScripts(page: Page, path: string): Promise<() => void> {
  const { promise: through, resolve: letThrough } = Promise.withResolvers<void>();
  await page.route('**/_next/static/**/*.js', async (route) => {
    await through;
    await route.continue().catch(() => undefined);
  });
  await page.goto(path, { waitUntil: 'commit' });
  return letThrough;
}

/** Opens a page, fills in its form and submits it, and only then lets the page's scripts through. */
async function pressEarly(page: Page, { path, boxes, button, said }: EarlyPress): Promise<void> {
  const letThrough = await openWithoutScripts(page, path);
  for (const [name, text] of Object.entries(boxes)) {
    await page.getByRole('textbox', { name }).or(page.getByRole('searchbox', { name })).first().fill(text);
  }
  if (button) await page.getByRole('button', { name: button, exact: true }).first().click();
  else await page.keyboard.press('Enter');
  letThrough();
  await expect(page.getByText(said).first()).toBeVisible();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}

async function expectKept(page: Page, press: EarlyPress): Promise<void> {
  await pressEarly(page, press);
  for (const [name, text] of Object.entries(press.boxes)) {
    await expect(page.getByRole('textbox', { name }).first()).toHaveValue(text);
  }
}

const password = 'three random words';

test('a form submitted before the scripts have loaded is sent, and keeps its values if it is refused', async ({
  page,
  context,
  home,
}) => {
  const email = home.owner.email;
  const ofStrangers: EarlyPress[] = [
    {
      path: '/sign-up',
      boxes: { Email: email, Password: password },
      button: 'Create account',
      said: 'This address already has an account.',
    },
    {
      path: '/sign-in',
      boxes: { Email: email, Password: 'not it' },
      button: 'Sign in',
      said: 'Incorrect email or password.',
    },
    { path: '/reset?token=x', boxes: { 'New password': password }, said: 'Request a new link' },
  ];
  const ofMembers: EarlyPress[] = [
    {
      path: '/account',
      boxes: { 'Current password': 'not it', 'New password': password },
      said: 'his is not your current password',
    },
    {
      path: `/${home.slug}/billing`,
      boxes: { Amount: '4' },
      button: 'Continue to payment',
      said: 'is 5 to 10000 dollars',
    },
  ];
  await context.clearCookies();
  for (const press of ofStrangers) await expectKept(page, press);
  await enter(context, home.owner);
  for (const press of ofMembers) await expectKept(page, press);
});

test('buttons pressed before the scripts have loaded work', async ({ page, home }) => {
  const presses: EarlyPress[] = [
    {
      path: '/forgot-password',
      boxes: { Email: home.owner.email },
      button: 'Create link',
      said: `If ${home.owner.email} has an account`,
    },
    { path: '/account', boxes: { Name: 'Ada' }, button: 'Save', said: 'Name saved' },
    {
      path: `/${home.slug}/settings`,
      boxes: { Name: 'Early' },
      button: 'Save',
      said: 'Settings saved',
    },
    { path: `/${home.slug}/logs`, boxes: { 'Request id': 'ffff' }, said: 'No matching calls' },
    { path: '/new', boxes: { Name: 'Early bird' }, said: 'Waiting for your first call' },
  ];
  for (const press of presses) await pressEarly(page, press);
});

test('palette shortcuts pressed before the scripts have loaded work, with what is typed after them', async ({
  page,
  home,
}) => {
  const presses = [
    { key: 'Control+k', opened: page.getByRole('combobox', { name: 'Search or paste a request id' }) },
    { key: '?', opened: page.getByRole('dialog', { name: 'Keyboard shortcuts' }) },
    { key: '/', opened: page.getByRole('combobox', { name: 'Search or paste a request id' }) },
  ];
  for (const { key, opened } of presses) {
    const letThrough = await openWithoutScripts(page, `/${home.slug}/keys`);
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await page.keyboard.press(key);
    if (key === 'Control+k') await page.keyboard.type('usagg');
    if (key === 'Control+k') await page.keyboard.press('Backspace');
    letThrough();
    await expect(opened).toBeVisible();
    if (key === 'Control+k') await expect(opened).toHaveValue('usag');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
});

test('the sidebar shows which page is loading', async ({ page, home }) => {
  const { promise: through, resolve: letThrough } = Promise.withResolvers<void>();
  await page.goto(`/${home.slug}/keys`, { waitUntil: 'networkidle' });
  await page.route(`**/${home.slug}/members?_rsc=*`, async (route) => {
    await through;
    await route.continue().catch(() => undefined);
  });
  const link = page.getByRole('navigation', { name: 'Workspace' }).getByRole('link', { name: 'Members' });
  const mark = link.locator('[data-pending]');
  await link.click();
  await expect(mark).toHaveCSS('opacity', '0.6');
  letThrough();
  await expect(page.getByRole('heading', { level: 1, name: 'Members' })).toBeVisible();
  await expect(mark).toHaveCount(0);
});
