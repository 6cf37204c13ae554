import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { kinds, paths } from './bodies/kinds.ts';
import { type Probed, type Sent, send } from './bodies/sender.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { firstLine, moveChildren, residentKib, startNode, stop } from './processes.ts';

/**
 * Attacks its own gateway with large and slow request bodies, and shows the effect on the gateway's memory and on the
 * small calls of another key: `node tools/bench/hostile-bodies.ts`, see README.md in this folder.
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

/** How often another key calls, ms: so rarely that its calls are no load. */
const SMALL_EVERY_MS = 100;
const LARGE_EVERY_MS = 250;

const folder = await mkdtemp(join(tmpdir(), 'hostile-bodies-'));
const provider = startNode('rest', ['tools/bench/unread-provider.ts']);
const { port: upstreamPort }: { port: number } = JSON.parse(await firstLine(provider));
const gateway = await startGatewayProcess({
  place: 'server',
  dataDir: folder,
  upstreamPort,
  models: [
    { id: 'bench/text', ...madeOf('text', ['chat', 'responses', 'messages', 'generate-content']) },
    { id: 'bench/picture', ...madeOf('image', ['images']) },
    { id: 'bench/film', ...madeOf('video', ['videos', 'generate-content']) },
  ],
});
const { child: server, pid, port } = gateway;
let failed = false;
try {
  moveChildren(pid);
  const attacker = await gateway.makeKey('attacker', 'none');
  const other = await gateway.makeKey('other', 'none');
  // A process is slower in its first calls.
  await probing(other, SMALL_EVERY_MS, 0, () => sleep(4_000));
  const quiet = await probing(other, SMALL_EVERY_MS, 0, () => sleep(5_000));
  say(
    `\nsmall calls of another key in a quiet gateway: ${figures(quiet.sent)}; resident ${residentMiB()} MiB\n`,
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
      say(`${path} ${kind.name}: +${growthMiB} MiB, ${ms} ms; small: ${figures(sent)}; ${statuses(result)}`);
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
    say(`${how}: +${growthMiB} MiB; 300 KiB calls: ${figures(sent)}; ${statuses(await Promise.all(slow))}`);
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

/** Calls with its own key every `everyMs` while `during` runs, and watches the resident memory. */
async function probing<Result>(key: string, everyMs: number, size: number, during: () => Promise<Result>) {
  const sent: Probed[] = [];
  const before = residentMiB();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentMiB());
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

function figures(sent: readonly Probed[]): string {
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

function madeOf(output: 'text' | 'image' | 'video', families: readonly string[]) {
  const prices = {
    text: { input: '0.001', output: '0.001' },
    image: { image: '0.001' },
    video: { videoSecond: '0.001' },
  };
  return { upstreamModel: output, families, output, price: prices[output] };
}

function residentMiB(): number {
  return Math.round(residentKib(pid) / 1024);
}
