// `npm run screens`: takes a screenshot of each page in pages.json, in both themes and with demo data.
//   --only WORDS     pages whose name contains one of the words (separated by commas)
//   --width PX       default: 1280
//   --full           the whole page instead of its first screen
//   --out FOLDER     default: docs/screens
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../bootstrap.mjs';
import { launchBrowser, readPages, signIn, startDemoGateway } from './demo-gateway.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    width: { type: 'string', default: '1280' },
    full: { type: 'boolean', default: false },
    out: { type: 'string', default: join(root, 'docs/screens') },
  },
});

/** Small, because they are part of the repository. */
const mostBytes = 80_000;
const height = 860;

const pages = readPages(values.only);
const dataDir = mkdtempSync(join(tmpdir(), 'gateway-screens-'));
const server = await startDemoGateway(dataDir);
try {
  await takeAll(server);
} finally {
  server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

/** @param {{ url: string, email: string, password: string }} console */
async function takeAll({ url, email, password }) {
  mkdirSync(values.out, { recursive: true });
  const browser = await launchBrowser();
  const width = Number(values.width);
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const look = { colorScheme, viewport: { width, height }, baseURL: url, locale: 'en-GB' };
    const context = await browser.newContext({ ...look, contextOptions: { reducedMotion: 'reduce' } });
    const stranger = await browser.newContext(look);
    const signedIn = await context.newPage();
    await signIn(signedIn, { email, password });
    for (const one of pages) {
      const page = one.public ? await stranger.newPage() : signedIn;
      const faults = [];
      const listen = (message) => message.type() === 'error' && faults.push(message.text());
      page.on('console', listen);
      await take(page, one, colorScheme, width).catch((error) => faults.push(error.message));
      page.off('console', listen);
      if (one.public) await page.close();
      for (const fault of faults) console.error(`${one.name}, ${colorScheme}: ${fault}`);
      if (faults.length > 0) process.exitCode = 1;
    }
  }
  await browser.close();
}

async function take(page, { name, path, follow, fill, press, wait }, theme, width) {
  await page.goto(path.startsWith('/') ? path : `/demo-data/${path}`, { waitUntil: 'networkidle' });
  if (follow) {
    const before = page.url();
    await page.locator(follow).click();
    await page.waitForURL((url) => url.href !== before);
    await page.waitForLoadState('networkidle');
  }
  if (fill) await page.locator(fill[0]).fill(fill[1]);
  if (press) await page.locator(press).click();
  if (wait) await page.locator(wait).first().waitFor();
  // A row under the pointer looks different.
  await page.mouse.move(0, 0);
  const file = join(values.out, `${name}-${theme}${width === 1280 ? '' : `-${width}`}.webp`);
  const session = await page.context().newCDPSession(page);
  for (const quality of [85, 70, 50, 30]) {
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'webp',
      quality,
      captureBeyondViewport: values.full,
      ...(values.full ? { clip: { x: 0, y: 0, scale: 1, ...(await sizeOf(page)) } } : {}),
    });
    const picture = Buffer.from(data, 'base64');
    if (picture.length > mostBytes && quality > 30) continue;
    writeFileSync(file, picture);
    console.log(`${file}: ${Math.round(picture.length / 1000)} KB`);
    break;
  }
  await session.detach();
}

function sizeOf(page) {
  return page.evaluate(() => ({
    width: document.documentElement.clientWidth,
    height: document.documentElement.scrollHeight,
  }));
}
