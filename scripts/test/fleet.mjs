// `npm run fleet -- [--seed N] [--minutes M] [--faults N] [--database embedded] [--between N] [word…]`: the tests of kills and outages
// round after round, each with the next seed, until the time is over or one fails. The words select spec files by their
// path. The figures of all rounds are added up at the end.
// Roll-outs behind nginx, which must be installed: `npm run fleet -- --minutes 1 --roll-outs 80 --longest 8 roll-out`.
// Every alert by its real cause, if Prometheus is installed: `npm run fleet -- --minutes 1 alerts`.
// The cost of faults, as a table: `npm run fleet -- --minutes 1 --table '' figures`.
// A large batch: `npm run fleet -- --minutes 1 --lines 10000 kill-batches`.
// Many end users with a budget: `npm run fleet -- --minutes 1 --end-users 100000 tag-budgets`.
// A soak of 30 minutes: `npm run fleet -- --minutes 1 --faults 90 --every 20 --rate 60 faults/faults`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare } from '../bootstrap.mjs';
import { provideTools } from '../tools.mjs';
import { runSpecs } from './steps.mjs';

/** Options for the tests: the variable that passes each one to them, and its default. */
const settings = {
  /** Kills and other faults in each test of a round. */
  faults: ['FLEET_FAULTS', '25'],
  /** How long the database is away in tests that stop it, s. */
  away: ['FLEET_AWAY_S', '60'],
  /** How often three processes are replaced one after another, and how long streams run meanwhile at most, s. */
  'roll-outs': ['FLEET_ROLL_OUTS', '3'],
  longest: ['FLEET_LONGEST_S', '8'],
  database: ['FLEET_DATABASE', 'server'],
  /** Calls that are answered between two kills at named points. */
  between: ['FLEET_CALLS_BETWEEN', '200'],
  /** Lines of the batch that is killed. */
  lines: ['FLEET_BATCH_LINES', '200'],
  /** Time between random faults, s, and the calls a second meanwhile. */
  every: ['FLEET_EVERY_S', '3'],
  rate: ['FLEET_CALLS_A_SECOND', '20'],
  /** Calls to a pool of credentials whose shares are compared with their weights. */
  'pool-calls': ['FLEET_POOL_CALLS', '10000'],
  /** End users with a budget of a dollar a day. */
  'end-users': ['FLEET_END_USERS', '10000'],
  /** The table of faults and their cost: rows whose name matches, '' for all; and the length of its soak, s. */
  table: ['FLEET_TABLE'],
  soak: ['FLEET_SOAK_S', '900'],
};
const options = Object.entries({ ...settings, seed: [null, '1'], minutes: [null, '10'] });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(
    options.map(([name, [, usual]]) => [name, { type: 'string', ...(usual && { default: usual }) }]),
  ),
});

/** Sums of the rounds' numbers, by subject; numbers that are maxima by their name stay maxima. */
function addUp(file) {
  const sums = new Map();
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  for (const { what, figures } of lines.map((line) => JSON.parse(line))) {
    const sum = sums.get(what) ?? { rounds: 0 };
    sum.rounds += 1;
    for (const [name, value] of Object.entries(figures)) {
      if (typeof value !== 'number') continue;
      const before = sum[name] ?? 0;
      sum[name] = /^(most|slowest)/.test(name) ? Math.max(before, value) : before + value;
    }
    sums.set(what, sum);
  }
  return sums;
}

const missing = provideTools();
if (missing.length > 0) {
  console.error(missing.join('\n'));
  process.exit(1);
}
const node = await prepare({ build: true, tests: true });
const folder = mkdtempSync(join(tmpdir(), 'gateway-fleet-'));
const figures = join(folder, 'figures.jsonl');
const untilMs = performance.now() + Number(values.minutes) * 60_000;
let seed = Number(values.seed);
let failed = 0;
let rounds = 0;
process.env.FLEET_FIGURES = figures;
for (const [name, [variable]] of Object.entries(settings)) {
  if (values[name] !== undefined) process.env[variable] = values[name];
}
while (failed === 0 && (rounds === 0 || performance.now() < untilMs)) {
  process.env.FLEET_SEED = String(seed);
  console.log(`\nRound ${rounds + 1}, seed ${seed}`);
  const words = positionals.length > 0 ? positionals : ['fleet/points', 'fleet/kill', 'fleet/faults'];
  ({ failed } = await runSpecs(node, ['fleet'], words));
  if (failed > 0) console.log(`The round with --seed ${seed} failed.`);
  seed += 1;
  rounds += 1;
}
console.log('');
for (const [what, sum] of addUp(figures)) console.log(`${what}: ${JSON.stringify(sum)}`);
rmSync(folder, { recursive: true, force: true });
process.exitCode = failed > 0 ? 1 : 0;
