import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { freePort } from '#tests/support/run/free-port';
import serverFlags from '../../scripts/server-flags.json' with { type: 'json' };
import { kinds, paths } from './bodies/kinds.ts';
import { type Probed, type Sent, send } from './bodies/sender.ts';
import { firstLine, moveChildren, run, startNode, stop } from './processes.ts';

/**
 * Attacks a gateway of its own with large and slow request bodies, and shows what they did to its memory and
 * to the small calls of another key: `node tools/bench/hostile-bodies.ts`, see README.md in this folder.
 */
const { values } = parseArgs({
  options: {
    parallel: { type: 'string', default: '20' },
    mebibytes: { type: 'string', default: '32' },
    kinds: { type: 'string', default: '' },
    paths: { type: 'string', default: '' },
    slow: { type: 'string', default: '200' },
    'slow-seconds': { type: 'string', default: '20' },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);
const parallel = Number(values.parallel);
const bytes = Number(values.mebibytes) * 1024 * 1024;
const MOST_GROWTH_MIB = 512;
const MOST_SMALL_MS = 250;
const MOST_LARGE_MS = 1_000;

/** How often another key calls, ms: rarely enough that its calls are no load themselves. */
const SMALL_EVERY_MS = 100;
const LARGE_EVERY_MS = 250;

const folder = await mkdtemp(join(tmpdir(), 'hostile-bodies-'));
const port = await freePort();
const env = {
  NODE_ENV: 'production',
  PORT: String(port),
  HOST: '127.0.0.1',
  DATA_DIR: folder,
  LOG_LEVEL: 'warn',
  SANDBOX: 'off',
  BENCH_KEY: 'bench',
  NEXTAUTH_SECRET: 'b'.repeat(64),
  ENCRYPTION_KEY: 'b'.repeat(64),
  KEY_PEPPER: 'b'.repeat(64),
};
const provider = startNode('rest', ['bench/unread-provider.ts']);
const server = startNode('server', [...serverFlags, 'server.ts'], env);
server.stdout?.resume();
const pid = server.pid ?? 0;
let failed = false;
try {
  const { port: providerPort }: { port: number } = JSON.parse(await firstLine(provider));
  await untilReady();
  const file = join(folder, 'bench.yaml');
  await writeFile(file, catalogue(providerPort));
  await run(startNode('rest', ['bin/gateway.ts', 'catalogue', 'apply', file], env));
  moveChildren(pid);
  const [attacker, other] = [await makeKey('attacker'), await makeKey('other')];
  // The first calls of a process warm it up.
  await probing(other, SMALL_EVERY_MS, 0, () => sleep(4_000));
  const quiet = await probing(other, SMALL_EVERY_MS, 0, () => sleep(5_000));
  say(
    `\nsmall calls of another key in a quiet gateway: ${told(quiet.sent)}; resident ${await residentMiB()} MiB\n`,
  );
  for (const { path, model, field } of paths.filter((one) => one.path.includes(values.paths))) {
    for (const kind of kinds.filter(({ name }) => name.includes(values.kinds))) {
      const body = kind.make(bytes, model, field);
      const { contentType } = kind;
      const { sent, growthMiB, result } = await probing(other, SMALL_EVERY_MS, 0, () =>
        Promise.all(
          Array.from({ length: parallel }, () => send({ port, key: attacker, path, contentType, body })),
        ),
      );
      judge(growthMiB < MOST_GROWTH_MIB && percentile(sent, 0.99) < MOST_SMALL_MS && alive());
      const ms = Math.round(Math.max(...result.map((one) => one.ms)));
      say(`${path} ${kind.name}: +${growthMiB} MiB, ${ms} ms; small: ${told(sent)}; ${statuses(result)}`);
    }
  }
  for (const rate of [1, 80 * 1024]) {
    const end = new AbortController();
    const body = Buffer.alloc(bytes, ' ');
    const slow = Array.from({ length: Number(values.slow) }, () =>
      send({
        port,
        key: attacker,
        path: '/v1/chat/completions',
        contentType: 'application/json',
        body,
        rate: Math.max(4, rate),
        signal: end.signal,
      }),
    );
    const { sent, growthMiB } = await probing(other, LARGE_EVERY_MS, 300 * 1024, () =>
      sleep(Number(values['slow-seconds']) * 1000),
    );
    end.abort();
    judge(percentile(sent, 1) < MOST_LARGE_MS && growthMiB < MOST_GROWTH_MIB && alive());
    const how = `${values.slow} senders of ${Math.max(4, rate)} bytes/s`;
    say(`${how}: +${growthMiB} MiB; 300 KiB calls: ${told(sent)}; ${statuses(await Promise.all(slow))}`);
    await sleep(2_000);
  }
} finally {
  await stop(server);
  await stop(provider);
  await rm(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

function judge(good: boolean): void {
  if (good) return;
  failed = true;
  process.stdout.write('MISSED  ');
}

function alive(): boolean {
  return server.exitCode === null && server.signalCode === null;
}

/** Calls with a key of its own every `everyMs` while `during` runs, and watches the resident memory. */
async function probing<Result>(key: string, everyMs: number, size: number, during: () => Promise<Result>) {
  const sent: Probed[] = [];
  const before = await residentMiB();
  let most = before;
  const watch = setInterval(() => {
    void residentMiB().then((now) => {
      most = Math.max(most, now);
    });
  }, 50);
  const workerData = { port, key, everyMs, bytes: size, pid };
  const prober = new Worker(new URL('./bodies/prober.ts', import.meta.url), { workerData });
  prober.on('message', (one: Probed) => sent.push(one));
  await sleep(500);
  const result = await during();
  await sleep(300);
  await prober.terminate();
  clearInterval(watch);
  return { sent, growthMiB: most - before, result };
}

function percentile(sent: readonly Probed[], part: number, of: 'ms' | 'ownMs' = 'ownMs'): number {
  const sorted = sent.map((one) => (one.status === 200 ? one[of] : 99_999)).sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 99_999);
}

function told(sent: readonly Probed[]): string {
  const shown = (of: 'ms' | 'ownMs') => [0.5, 0.99, 1].map((part) => percentile(sent, part, of)).join('/');
  return `p50/p99/max ${shown('ms')} ms, without waiting for a core ${shown('ownMs')} ms, of ${sent.length}`;
}

function statuses(sent: readonly Sent[]): string {
  const counts = new Map<string, number>();
  for (const { status, code } of sent) {
    const name = `${status} ${code}`.trim();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');
}

/** One model of each kind, at a provider that takes everything. */
function catalogue(providerPort: number): string {
  const families = ['chat', 'responses', 'messages', 'generate-content', 'images', 'videos'];
  const base = `http://127.0.0.1:${providerPort}/v1`;
  const model = (name: string, output: string, spoken: readonly string[], price: string) => `
  - id: bench/${name}
    name: ${name}
    contextTokens: 0
    maxOutputTokens: ${output === 'text' ? 4096 : 0}
    input: [text, image]
    output: [${output}]
    offers:
      - provider: bench
        upstreamModel: ${name}
        families: [${spoken.join(', ')}]
        price: ${price}`;
  return `providers:
  - id: bench
    name: Bench provider
    families: { ${families.map((family) => `${family}: "${base}"`).join(', ')} }
    credential: { env: BENCH_KEY }
models:${model('text', 'text', families.slice(0, 4), '{ input: "0.001", output: "0.001" }')}${model('picture', 'image', ['images'], '{ image: "0.001" }')}${model('film', 'video', ['videos', 'generate-content'], '{ videoSecond: "0.001" }')}
`;
}

async function makeKey(name: string): Promise<string> {
  const limits = ['--rpm', 'none', '--tpm', 'none', '--concurrency', 'none'];
  const command = async (...args: string[]) =>
    JSON.parse(await run(startNode('rest', ['bin/gateway.ts', ...args, '--json'], env)));
  const workspace: { slug: string } = await command(
    ...['workspace', 'create', '--name', name, '--credit', '1000000', ...limits],
  );
  const made: { key: string } = await command(
    ...['key', 'create', '--workspace', workspace.slug, '--name', name],
  );
  return made.key;
}

async function residentMiB(): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

async function untilReady(): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (!alive()) throw new Error('the server ended');
    const health = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => null);
    if (health?.status === 200) return;
    await sleep(200);
  }
  throw new Error('the server was not ready after two minutes');
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
