// `npm run vitals`: how fast each page in pages.json loads on a throttled machine, and how much its layout shifts. Prints
// a table with the worst pages last; exits 1 if a page's largest paint takes more than 1.5 s or its shifts exceed 0.05.
// Throttled through the Chrome DevTools Protocol as Lighthouse does, behind a compressing proxy, with an empty cache.
//   --only WORDS        pages whose name contains one of the words (separated by commas)
//   --runs N            default: 3; the median counts, for shifts the maximum
//   --cpu N             how many times slower the processor is; default: 4
//   --network NAME      dense (10 Mbit/s, 40 ms; default) or slow (1.6 Mbit/s, 150 ms)
//   --width PX          one or several, separated by commas; default: 1280,360
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { constants, createGzip } from 'node:zlib';
import { launchBrowser, readPages, signIn, startDemoGateway } from './demo-gateway.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string', default: '3' },
    cpu: { type: 'string', default: '4' },
    network: { type: 'string', default: 'dense' },
    width: { type: 'string', default: '1280,360' },
  },
});

/** Lighthouse's profiles: latency in ms, throughput in bytes a second. */
const networks = {
  dense: { latency: 40, throughput: (10_000_000 / 8) | 0 },
  slow: { latency: 150, throughput: (1_600_000 / 8) | 0 },
};
const network = networks[values.network];
if (!network) throw new Error(`--network is ${Object.keys(networks).join(' or ')}`);
const limits = { lcpMs: 1500, shift: 0.05 };

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-vitals-'));
const { url, email, password, stop } = await startDemoGateway(dataDir);
const front = await compressing(new URL(url));
try {
  await measureAll();
} finally {
  front.close();
  stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function measureAll() {
  const browser = await launchBrowser();
  const rows = [];
  for (const width of values.width.split(',').map(Number)) {
    const look = { viewport: { width, height: 860 }, baseURL: front.url, locale: 'en-GB' };
    const member = await browser.newContext(look);
    await signIn(await member.newPage(), { email, password });
    const stranger = await browser.newContext(look);
    for (const one of readPages(values.only)) {
      const row = await measurePage(one.public ? stranger : member, one);
      rows.push({ ...row, width });
      const figures = `${row.lcpMs.toFixed(0)} ms, ${row.shift.toFixed(3)}`;
      console.error(`${one.name} at ${width} px: ${figures}, last painted: ${JSON.stringify(row.painted)}`);
    }
  }
  await browser.close();
  printTable(rows);
}

/** The figures of a page: the median of its runs, for shifts the maximum. */
async function measurePage(context, one) {
  const address = await addressOf(context, one);
  const runs = [];
  for (let at = 0; at < Number(values.runs); at += 1) runs.push(await measure(context, address));
  return {
    name: one.name,
    serverMs: middle(await serverTimes(context, address)),
    lcpMs: middle(runs.map((run) => run.lcpMs)),
    painted: runs.at(-1)?.painted ?? '',
    shift: Math.max(...runs.map((run) => run.shift)),
    scriptBytes: middle(runs.map((run) => run.scriptBytes)),
  };
}

/** How close a page is to its limits; above 1, it exceeds one of them. */
function worst({ lcpMs, shift }) {
  return Math.max(lcpMs / limits.lcpMs, shift / limits.shift);
}

function printTable(rows) {
  const bold = (bad, text) => (bad ? `**${text}**` : text);
  console.log(`CPU ${values.cpu}×, ${values.network} network, ${values.runs} runs; worst last\n`);
  console.log('| Page | Width px | Server ms | LCP ms | CLS | Script kB |\n|---|---|---|---|---|---|');
  for (const row of rows.toSorted((one, other) => worst(one) - worst(other))) {
    const cells = [
      row.name,
      row.width,
      bold(row.serverMs > 300, row.serverMs.toFixed(0)),
      bold(row.lcpMs > limits.lcpMs, row.lcpMs.toFixed(0)),
      bold(row.shift > limits.shift, row.shift.toFixed(3)),
      (row.scriptBytes / 1000).toFixed(0),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const beyond = rows.filter((row) => worst(row) > 1);
  console.log(
    `\n${rows.length} measured, ${beyond.length} above ${limits.lcpMs} ms or a shift of ${limits.shift}`,
  );
  if (beyond.length > 0) process.exitCode = 1;
}

/** The address of a page, after the click that opens it. */
async function addressOf(context, { path, follow }) {
  const start = path.startsWith('/') ? path : `/demo-data/${path}`;
  if (!follow) return start;
  const page = await context.newPage();
  await page.goto(start, { waitUntil: 'networkidle' });
  const before = page.url();
  await page.locator(follow).click();
  await page.waitForURL((address) => address.href !== before);
  const { pathname, search } = new URL(page.url());
  await page.close();
  return pathname + search;
}

/** ms until the last byte of a page, without a browser and without throttling. */
async function serverTimes(context, address) {
  const cookies = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  const times = [];
  for (let at = 0; at < 7; at += 1) {
    const startMs = performance.now();
    await (await fetch(new URL(address, url), { headers: { cookie: cookies } })).text();
    times.push(performance.now() - startMs);
  }
  return times;
}

async function measure(context, address) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let scriptBytes = 0;
  const scripts = new Set();
  session.on(
    'Network.responseReceived',
    ({ requestId, type }) => type === 'Script' && scripts.add(requestId),
  );
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) scriptBytes += encodedDataLength;
  });
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  const { latency, throughput } = network;
  const speeds = { downloadThroughput: throughput, uploadThroughput: throughput };
  await session.send('Network.emulateNetworkConditions', { offline: false, latency, ...speeds });
  await session.send('Emulation.setCPUThrottlingRate', { rate: Number(values.cpu) });
  await page.addInitScript(() => {
    const seen = { lcpMs: 0, painted: '', shift: 0 };
    Object.assign(window, { vitals: seen });
    new PerformanceObserver((list) => {
      for (const { startTime, element } of list.getEntries()) {
        seen.lcpMs = startTime;
        seen.painted = (element?.textContent ?? element?.tagName ?? '').trim().slice(0, 40);
      }
    }).observe({ type: 'largest-contentful-paint', buffered: true });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.shift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(address, { waitUntil: 'networkidle' });
  await page.waitForTimeout(500);
  const seen = await page.evaluate(() => window.vitals);
  await page.close();
  return { ...seen, scriptBytes };
}

function middle(numbers) {
  return [...numbers].sort((one, other) => one - other)[numbers.length >> 1];
}

/** A reverse proxy that compresses text, like those in deploy/. */
async function compressing(target) {
  const proxy = createServer((asked, answer) => {
    const options = { host: target.hostname, port: target.port, path: asked.url, method: asked.method };
    const inner = request(
      { ...options, headers: { ...asked.headers, 'accept-encoding': 'identity' } },
      (got) => {
        const texts = /^(?:text\/(?!event-stream)|application\/(?:javascript|json))/;
        const packs = texts.test(String(got.headers['content-type'])) && got.statusCode === 200;
        if (!packs) {
          answer.writeHead(got.statusCode, got.headers);
          got.pipe(answer);
          return;
        }
        const { 'content-length': _, ...headers } = got.headers;
        answer.writeHead(got.statusCode, { ...headers, 'content-encoding': 'gzip' });
        const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
        got.pipe(gzip).pipe(answer);
      },
    );
    inner.on('error', () => answer.destroy());
    asked.pipe(inner);
  });
  await new Promise((resolve) => proxy.listen(0, 'localhost', resolve));
  return { url: `http://localhost:${proxy.address().port}`, close: () => proxy.close() };
}
