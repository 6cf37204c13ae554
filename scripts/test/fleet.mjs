// `npm run fleet -- [--seed N] [--minutes M] [--faults N] [--database embedded] [--between N] [word…]`: the tests of kills and outages
// round after round, each with the next seed, until the minutes have passed or one fails. The words choose spec files
// by their path. The figures of all rounds are added up at the end.
// Roll-outs behind nginx, which must be installed: `npm run fleet -- --minutes 1 --roll-outs 80 --longest 8 roll-out`.
// Every alert by its real cause, where Prometheus is installed: `npm run fleet -- --minutes 1 alerts`.
// What faults cost, as a table: `npm run fleet -- --minutes 1 --table '' figures`.
// A soak of 30 minutes: `npm run fleet -- --minutes 1 --faults 90 --every 20 --rate 60 faults/faults`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare } from '../bootstrap.mjs';
import { provideTools } from '../tools.mjs';
import { runSpecs } from './steps.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    /** Kills and other faults in each test of a round. */
    faults: { type: 'string', default: '25' },
    /** How long the database is away where a test takes it away, s. */
    away: { type: 'string', default: '60' },
    /** How often three processes are replaced one after the other, and how long streams run meanwhile at most, s. */
    'roll-outs': { type: 'string', default: '3' },
    longest: { type: 'string', default: '8' },
    database: { type: 'string', default: 'server' },
    /** Calls that are answered between two kills at named points. */
    between: { type: 'string', default: '200' },
    /** From one random fault to the next, s, and the calls a second meanwhile. */
    every: { type: 'string', default: '3' },
    rate: { type: 'string', default: '20' },
    /** The table of faults and what they cost: rows whose name matches, '' for all; and how long its soak lasts, s. */
    table: { type: 'string' },
    soak: { type: 'string', default: '900' },
  },
});

/** Sums of the numbers that rounds told, by what they are about; what is a maximum by its name stays one. */
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
process.env.FLEET_FAULTS = values.faults;
process.env.FLEET_AWAY_S = values.away;
process.env.FLEET_ROLL_OUTS = values['roll-outs'];
process.env.FLEET_LONGEST_S = values.longest;
process.env.FLEET_DATABASE = values.database;
process.env.FLEET_CALLS_BETWEEN = values.between;
process.env.FLEET_EVERY_S = values.every;
process.env.FLEET_CALLS_A_SECOND = values.rate;
process.env.FLEET_FIGURES = figures;
if (values.table !== undefined) process.env.FLEET_TABLE = values.table;
process.env.FLEET_SOAK_S = values.soak;
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
