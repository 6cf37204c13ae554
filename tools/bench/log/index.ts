import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ControlHost } from '#lib/control/operations/run';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { type Db, openDb } from '#lib/platform/data/db';
import { openEmbedded } from '#lib/platform/data/embedded';
import { migrate } from '#lib/platform/data/migrate';
import { type Answered, askAll } from './ask-all.ts';
import { makeCrowd, type Tenant } from './crowd.ts';
import { fillLedger } from './ledger.ts';
import { loadCalls } from './load.ts';
import { report, sizesOf } from './report.ts';
import { compareTotals, countDays, fillUsage } from './rollup.ts';

/** `npm run bench -- log`: see README.md of the folder above. */
const { values } = parseArgs({
  options: {
    calls: { type: 'string' },
    workspaces: { type: 'string', default: '50' },
    keys: { type: 'string', default: '20' },
  },
});

const say = (text: string) => process.stderr.write(`${text}\n`);
const url = process.env.DATABASE_URL;
const folder = await mkdtemp(join(tmpdir(), 'bench-log-'));
const embedded = url ? null : await openEmbedded(folder, 'server');
const db = openDb(url ?? embedded?.url ?? '', { max: 4 });
const calls = Number(values.calls ?? (url ? 10_000_000 : 1_000_000));
const limitMs = url ? 100 : 300;
const days = 60;
const crowd = { workspaces: Number(values.workspaces), keys: Number(values.keys) };
/** How often each question is asked. */
const times = 11;
/** The log ends now, so that the last day is not over. */
const untilMs = Math.floor(Date.now() / 900_000) * 900_000;
try {
  const tenants = await load(db);
  await countDays(db.pool, untilMs);
  await fillLedger(db.pool);
  say('days and ledger are filled');
  const answered: Answered[] = [];
  for (const at of [0, Math.min(9, tenants.length - 1), tenants.length - 1]) {
    const tenant = tenants[at];
    if (tenant) answered.push(...(await askAll(hostOf(db), db.pool, tenant, { untilMs, times, say })));
  }
  const totals = await compareTotals(db.pool);
  const text = report({
    answered,
    totals,
    limitMs,
    sizes: await sizesOf(db.pool),
    on: url ? 'PostgreSQL' : 'the embedded database',
  });
  const results = join(import.meta.dirname, '..', 'results');
  await mkdir(results, { recursive: true });
  const name = `log-${url ? 'postgresql' : 'embedded'}`;
  await writeFile(join(results, `${name}.md`), text.summary);
  await writeFile(join(results, `${name}-plans.txt`), text.plans);
  process.stdout.write(`${text.summary}\n`);
  process.exitCode = text.failed ? 1 : 0;
} finally {
  await db.close();
  await embedded?.close();
  await rm(folder, { recursive: true, force: true });
}

async function load({ pool }: Db): Promise<Tenant[]> {
  const address = url ?? embedded?.url ?? '';
  await migrate(address);
  const { rows } = await pool.query<{ any: boolean }>('SELECT EXISTS (SELECT FROM workspace) AS any');
  if (rows[0]?.any) throw new Error('The database of DATABASE_URL is in use: set it to an empty one.');
  const startedMs = performance.now();
  const seconds = () => ((performance.now() - startedMs) / 1000).toFixed(0);
  const tenants = await makeCrowd(pool, crowd);
  const amount = { calls, days, untilMs };
  await loadCalls(pool, amount, (loaded) => say(`${loaded} calls after ${seconds()} s`));
  await fillUsage(pool, amount);
  say(`usage summed after ${seconds()} s`);
  // As autovacuum would have done by then; the embedded database has none.
  await pool.query('VACUUM ANALYZE');
  say(`vacuumed after ${seconds()} s`);
  return tenants;
}

function hostOf(opened: Db): ControlHost {
  const catalogue = () => loadCatalogue(opened.pool, { envSecret: () => undefined, sealingKey: null });
  return { db: opened, keyPepper: 'bench', catalogue, changed: () => {} };
}
