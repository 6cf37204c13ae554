import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Case, casesOf } from './cases.ts';
import { measure } from './measure.ts';
import { measureHeld } from './memory/held.ts';
import type { Bench, Measured, StartTarget, Target } from './plan.ts';
import { firstLine, pinned, startNode, stop } from './processes.ts';
import { type Results, report } from './report.ts';
import { startGateway } from './targets/gateway.ts';
import { startScript } from './targets/script.ts';

/** `npm run bench`: see README.md in this folder. */
const starters: Readonly<Record<string, StartTarget>> = {
  upstream: startScript('upstream', 'upstream.ts'),
  bare: startScript('bare', 'bare-proxy.ts'),
  node: startGateway('node', 'node'),
  web: startGateway('web', 'web'),
  'one-core': startGateway('one-core', 'node', { oneCore: true }),
  // What a pool of ten credentials costs, compared with the one of `node`: `--only node,pool --cases throughput`.
  pool: startGateway('pool', 'node', { credentials: 10 }),
  // One process and two, with the load on the same cores: `--only workers-1,workers-2 --cases throughput`.
  'workers-1': startGateway('workers-1', 'node', { workers: 1 }),
  'workers-2': startGateway('workers-2', 'node', { workers: 2 }),
};
const usual = ['upstream', 'bare', 'node', 'pool', 'one-core', 'web'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: usual.join(',') },
    cases: { type: 'string', default: '' },
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '3' },
    profile: { type: 'boolean', default: false },
    streams: { type: 'string', default: '1,100,1000' },
  },
});

const say = (text: string) => process.stderr.write(`${text}\n`);
const wanted = values.only.split(',').filter((name) => name !== '');
const unknown = wanted.filter((name) => !Object.hasOwn(starters, name));
if (unknown.length > 0) {
  say(`Unknown target: ${unknown.join(', ')}. Known: ${Object.keys(starters).join(', ')}`);
  process.exit(2);
}
const sizes = {
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  streams: values.streams.split(',').map(Number),
};
const chosen = [...positionals, ...values.cases.split(',').filter((name) => name !== '')];
const cases = casesOf(sizes).filter(
  ({ name }) => chosen.length === 0 || chosen.some((one) => name === one || name.startsWith(`${one}-`)),
);
if (cases.length === 0) {
  const known = casesOf(sizes).map(({ name }) => name);
  say(`No case is called ${chosen.join(' or ')}. Known: ${known.join(', ')}`);
  process.exit(2);
}

const resultsFolder = join(import.meta.dirname, 'results');
/** Each server writes a profile of its processor time when it ends. */
const profileFlags = values.profile ? ['--cpu-prof', `--cpu-prof-dir=${resultsFolder}`] : [];

const folder = await mkdtemp(join(tmpdir(), 'bench-'));
const upstream = startNode('rest', ['tools/bench/upstream.ts']);
const targets: Target[] = [];
let failed = false;
try {
  const { port }: { port: number } = JSON.parse(await firstLine(upstream));
  for (const name of wanted) await start(name, { upstreamPort: port, folder, flags: profileFlags });
  const results: Record<string, Measured[]> = {};
  for (const one of cases) results[one.name] = await runCase(one);
  await publish(results);
} finally {
  for (const target of targets) await target.stop();
  await stop(upstream);
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

/** A target that does not start is reported and left out; the others are measured. */
async function start(name: string, bench: Bench): Promise<void> {
  try {
    const target = await starters[name]?.(bench);
    if (target) targets.push(target);
  } catch (error) {
    failed = true;
    say(`${name}: left out, ${error instanceof Error ? error.message : error}`);
  }
}

async function runCase(one: Case): Promise<Measured[]> {
  const all: Measured[] = [];
  for (let round = 0; round < one.rounds; round++) {
    for (const target of one.held ? targets.filter(({ heldFile }) => heldFile !== null) : targets) {
      const measured = await (one.held ? measureHeld : measure)(target, round, one.plan(target));
      all.push(measured);
      const figures = `${Math.round(measured.perSecond)}/s p50 ${measured.latencyMs.p50.toFixed(2)} ms`;
      say(
        `${one.name} ${round + 1}/${one.rounds} ${target.name}: ${figures}${measured.errors ? `, ${measured.errors} errors` : ''}`,
      );
      if (measured.errors > 0) failed = true;
    }
  }
  return all;
}

async function publish(results: Results): Promise<void> {
  const at = new Date().toISOString();
  const [cpu] = cpus();
  const machine = `${cpu?.model.trim()}, ${cpus().length} cores, Node ${process.version}, ${pinned ? 'pinned' : 'not pinned'}`;
  const about = cases.map((one) => `- ${one.name}: ${one.about}, ${one.rounds} rounds`).join('\n');
  const text = report(results);
  await mkdir(resultsFolder, { recursive: true });
  await writeFile(
    join(resultsFolder, `${at.replaceAll(':', '-')}.json`),
    JSON.stringify({ at, machine, sizes, results }, null, 1),
  );
  await writeFile(
    join(resultsFolder, 'latest.md'),
    `# Bench of ${at.slice(0, 10)}\n\n${machine}.\n\n${about}\n\n${text}\n`,
  );
  process.stdout.write(`\n${machine}\n\n${text}\n`);
}
