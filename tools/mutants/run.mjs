// `npm run mutants -- [--seed N] [--count N] [--source DIR] [--tests DIR] [--gateway] [--out FILE]
// [--survivors FILE] [--minutes N]`: makes small changes to a copy of the code that decides about money and order, one at a
// time, and reports which changes no test notices.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, root } from '../../scripts/bootstrap.mjs';

/** The files to change, the unit specs for them, and the gateway specs that test them over the wire. */
const targets = [
  {
    files: /^gateway\/admission\/pure\/decide\.ts$/,
    own: ['unit/admission/decide'],
    specs: ['errors-causes', 'errors-order', 'contract/budgets', 'budget-limits'],
  },
  {
    files: /^gateway\/admission\/pure\/estimate\.ts$/,
    own: ['unit/admission/estimate', 'unit/routing/plan.'],
    specs: ['budget-limits', 'budget-money', 'images/charges'],
  },
  {
    files: /^gateway\/limits\/pure\/window\.ts$/,
    own: ['unit/admission'],
    specs: ['budget-limits', 'budget-money'],
  },
  {
    files: /^core\/metering\/price\.ts$/,
    own: ['unit/settlement/price', 'unit/metering'],
    specs: ['contract/answers', 'images/charges', 'contract/jobs'],
  },
  {
    files: /^gateway\/settlement\/pure\/apply\.ts$/,
    own: ['unit/settlement'],
    specs: ['settlement/', 'contract/endings'],
  },
  {
    files: /^gateway\/routing\/pure\/plan\.ts$/,
    own: ['unit/routing/plan'],
    specs: ['routing/fallback', 'routing/routing-policies', 'contract/budgets'],
  },
  {
    files: /^core\/families\/scan(\/\w+)?\.ts$/,
    own: ['unit/families/scan', 'unit/families/chat-ask'],
    specs: ['input-bodies', 'contract/refusals'],
  },
  {
    files: /^core\/relay\/[\w-]+\.ts$/,
    own: ['unit/relay'],
    specs: ['contract/answers', 'contract/endings'],
  },
];

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '50' },
    /** The project whose code is changed; default: this one. */
    source: { type: 'string', default: root },
    /** The project whose tests are run; default: this one. */
    tests: { type: 'string', default: root },
    /** Also run the gateway specs on changes that the unit tests miss. */
    gateway: { type: 'boolean', default: false },
    /** A JSON file for the result of each change. */
    out: { type: 'string' },
    /** The file of an earlier run on the same source: tries only its survivors, without the unit tests. */
    survivors: { type: 'string' },
    /** No change is started after this time. */
    minutes: { type: 'string' },
  },
});

const node = await prepare({ tests: true });
const { draw, mutantsOf } = await import('./mutate.mjs');
const scratch = mkdtempSync(join(tmpdir(), 'gateway-mutants-'));
let running = null;
let keeper = null;
const leave = () => {
  keeper?.stdin.end();
  rmSync(scratch, { recursive: true, force: true });
};
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    running?.kill('SIGKILL');
    leave();
    process.exit(1);
  });
}

/** Folders to which no test writes. */
const linked = ['node_modules', '.next'];
const notCopied = [...linked, '.git', '.data', 'dist', 'tests', 'vitest.config.ts'];

function copy() {
  const [source, tests] = [resolve(values.source), resolve(values.tests)];
  for (const name of readdirSync(source).filter((name) => !notCopied.includes(name))) {
    cpSync(join(source, name), join(scratch, name), { recursive: true });
  }
  cpSync(join(tests, 'tests'), join(scratch, 'tests'), { recursive: true });
  cpSync(join(tests, 'vitest.config.ts'), join(scratch, 'vitest.config.ts'));
  for (const name of linked) symlinkSync(join(source, name), join(scratch, name));
}

/** One PostgreSQL server for all changes. @returns its address. */
async function startPostgres() {
  keeper = spawn(node, [join(scratch, 'tests/support/postgres/keeper.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [address] = await once(keeper.stdout, 'data');
  return String(address).trim();
}

/** @returns {Promise<'passed' | 'failed' | 'late'>} */
function vitest(args, limitMs) {
  const common = ['--run', '--passWithNoTests', '--reporter=dot', '--bail=1', '--maxWorkers=1'];
  return runIn('node_modules/vitest/vitest.mjs', [...args, ...common], limitMs);
}

/** @returns {Promise<'passed' | 'failed' | 'late'>} */
function runIn(program, args, limitMs) {
  const child = spawn(node, [join(scratch, program), ...args], {
    cwd: scratch,
    stdio: 'ignore',
    detached: true,
  });
  running = child;
  return new Promise((done) => {
    const timer = setTimeout(() => {
      // The workers too: a change may have made a loop endless.
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
      done('late');
    }, limitMs);
    child.once('exit', (code) => {
      clearTimeout(timer);
      done(code === 0 ? 'passed' : 'failed');
    });
  });
}

const flags = ['--project=unit', '--isolate=false'];
const untilMs = performance.now() + Number(values.minutes ?? Infinity) * 60_000;
/** Runs its own specs first; the others only if those pass. */
async function unit(path, own) {
  const first = await vitest(['run', ...flags, ...own], 300_000);
  return first === 'passed' ? vitest(['related', path, ...flags], 600_000) : first;
}
/** These start the server, which is bundled with the change first. */
async function gateway(specs) {
  const bundled = await runIn('scripts/bundle.mjs', [], 60_000);
  return bundled === 'passed' ? vitest(['run', '--project=gateway', ...specs], 900_000) : bundled;
}

try {
  copy();
  const names = readdirSync(join(scratch, 'lib'), { recursive: true }).map(String).sort();
  const files = targets.flatMap(({ files: pattern, ...tests }) =>
    names.filter((name) => pattern.test(name)).map((name) => ({ path: `lib/${name}`, ...tests })),
  );
  const texts = new Map(files.map(({ path }) => [path, readFileSync(join(scratch, path), 'utf8')]));
  const all = [...texts].sort().flatMap(([path, text]) => mutantsOf(path, text));
  const drawn = values.survivors
    ? JSON.parse(readFileSync(values.survivors, 'utf8')).filter(({ by }) => by === null)
    : draw(all, Number(values.seed), Number(values.count));
  console.log(`${drawn.length} of ${all.length} changes in ${texts.size} files, seed ${values.seed}`);
  process.env.NODE_COMPILE_CACHE ??= join(scratch, 'compiled');
  if (!values.survivors && (await vitest(['run', ...flags], 900_000)) !== 'passed')
    throw new Error(
      'Unit tests fail without any change. Run "npm test -- unit"; if they pass there, the copy lacks what they read.',
    );
  if (values.gateway) process.env.TEST_DATABASE_URL ??= await startPostgres();
  const outcomes = [];
  for (const [at, mutant] of drawn.entries()) {
    if (performance.now() > untilMs) break;
    const { path, start, end, line, from, to } = mutant;
    const text = texts.get(path) ?? '';
    writeFileSync(join(scratch, path), text.slice(0, start) + to + text.slice(end));
    const { own = [], specs = [] } = files.find((file) => file.path === path) ?? {};
    const unnoticed = values.survivors !== undefined || (await unit(path, own)) === 'passed';
    let by = unnoticed ? null : 'unit';
    if (by === null && values.gateway) by = (await gateway(specs)) === 'passed' ? null : 'gateway';
    writeFileSync(join(scratch, path), text);
    outcomes.push({ ...mutant, by });
    const shown = from.length > 60 ? `${from.slice(0, 60)}…` : from;
    console.log(
      `${at + 1}/${drawn.length} ${by ? `caught by ${by}` : 'SURVIVED'}  ${path}:${line}  ${shown.replaceAll('\n', ' ')}  →  ${to || '(nothing)'}`,
    );
  }
  const caught = outcomes.filter(({ by }) => by !== null).length;
  console.log(
    `\n${caught} caught, ${outcomes.length - caught} survived, ${drawn.length - outcomes.length} not tried`,
  );
  if (values.out) writeFileSync(values.out, JSON.stringify(outcomes, null, 1));
} finally {
  leave();
}
