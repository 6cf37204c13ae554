import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Shape } from '../bodies/shapes.ts';
import { measure } from '../measure.ts';
import type { LoadPlan, Measured, StartTarget, Target } from '../plan.ts';
import { firstLine, startNode, stop } from '../processes.ts';
import { median } from '../statistics.ts';
import { startGateway } from '../targets/gateway.ts';

/** What keeping content costs: throughput with and without it, and the share that is kept at half of that load. */
const slowerAtMost = 0.1;
const keptAtLeast = 0.99;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    shapes: { type: 'string', default: 'small,turns-105k' },
  },
});
const seconds = Number(values.seconds);
const metricsToken = 'bench-metrics-token';
const masks = ['keys', 'mail', 'cards', 'phones'].flatMap((kind) => [`--mask-${kind}`, 'on']);
const starters: Readonly<Record<string, StartTarget>> = {
  off: startGateway('off', 'node', { metricsToken }),
  all: startGateway('all', 'node', { metricsToken, settings: ['--content', 'all'] }),
  masked: startGateway('masked', 'node', { metricsToken, settings: ['--content', 'all', ...masks] }),
};

const print = (line: string) => process.stdout.write(`${line}\n`);
const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
const folder = await mkdtemp(join(tmpdir(), 'bench-'));
const upstream = startNode('rest', ['tools/bench/upstream.ts']);
const targets: Target[] = [];
let failed = false;
try {
  const { port }: { port: number } = JSON.parse(await firstLine(upstream));
  for (const start of Object.values(starters))
    targets.push(
      await start({
        upstreamPort: port,
        folder,
        flags: [],
      }),
    );
  for (const shape of values.shapes.split(',')) await compare(shape as Shape);
} finally {
  for (const target of targets) await target.stop();
  await stop(upstream);
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

async function compare(shape: Shape): Promise<void> {
  const rounds: Measured[][] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const measured: Measured[] = [];
    // Each round begins with another target, so that drift affects all equally.
    for (let turn = 0; turn < targets.length; turn += 1) {
      const at = (turn + round) % targets.length;
      const target = targets[at] as Target;
      measured[at] = await measure(target, round, planOf(target, shape, null));
      await written(target);
    }
    rounds.push(measured);
  }
  const speeds = targets.map((_, at) => median(rounds.map((one) => one[at]?.perSecond ?? 0)));
  print(`${shape}: ${targets.map(({ name }, at) => `${name} ${Math.round(speeds[at] ?? 0)}/s`).join(', ')}`);
  for (const [at, target] of targets.entries()) {
    const ratio = median(rounds.map((one) => (one[at]?.perSecond ?? 0) / (one[0]?.perSecond ?? 0)));
    const errors = rounds.reduce((sum, one) => sum + (one[at]?.errors ?? 0), 0);
    failed ||= (target.name === 'all' && ratio < 1 - slowerAtMost) || errors > 0;
    const of = (read: (one: Measured) => number) => median(rounds.map((one) => read(one[at] as Measured)));
    const processor = `${of((one) => one.answerMs).toFixed(3)} ms of processor time per call with the database`;
    const core = `server core ${percent(of((one) => one.serverCore))}`;
    print(
      `  ${target.name}: ${percent(ratio)} of the throughput of off, ${processor}, ${core}, ${errors} errors`,
    );
  }
  for (const target of targets) await atHalfLoad(target, shape, Math.floor((speeds[0] ?? 0) / 2));
}

async function atHalfLoad(target: Target, shape: Shape, perSecond: number): Promise<void> {
  const before = await countOf(target);
  const measured = await measure(target, 0, planOf(target, shape, perSecond));
  await written(target);
  const after = await countOf(target);
  const [kept, lost] = [after.kept - before.kept, after.lost - before.lost];
  const share = kept / (kept + lost);
  failed ||= (target.name === 'all' && share < keptAtLeast) || measured.errors > 0;
  const latency = `p99 ${measured.latencyMs.p99.toFixed(1)} ms, ${measured.errors} errors`;
  const content = target.name === 'off' ? '' : `${percent(share)} kept (${kept} of ${kept + lost}), `;
  print(`  ${target.name} at ${perSecond}/s: ${content}${latency}`);
}

function planOf({ port, key, models }: Target, shape: Shape, perSecond: number | null): LoadPlan {
  return {
    kind: perSecond === null ? 'closed' : 'open',
    port,
    key,
    model: models.whole,
    besideModel: models.stream,
    shape,
    connections: shape === 'small' ? 32 : 8,
    perSecond: perSecond ?? 0,
    warmUpSeconds: 4,
    seconds,
  };
}

/** Waits until no content waits to be written, so that one measurement does not disturb the next. */
async function written(target: Target): Promise<void> {
  for (let last = -1; ; ) {
    const { kept, lost } = await countOf(target);
    if (kept + lost === last) return;
    last = kept + lost;
    await pause(1_500);
  }
}

async function countOf({ port }: Target): Promise<{ kept: number; lost: number }> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/metrics`, {
    headers: { authorization: `Bearer ${metricsToken}` },
  });
  const text = await answer.text();
  const read = (name: string) =>
    Number(new RegExp(`^gateway_content_${name}_total (\\d+)`, 'm').exec(text)?.[1]);
  return { kept: read('kept'), lost: read('lost') };
}
