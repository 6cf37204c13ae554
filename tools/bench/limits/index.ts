import { parseArgs } from 'node:util';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { snapshotOf } from '#tests/support/admission';
import prepareDatabase from '#tests/support/database';
import { cases, runCase } from '#tests/support/limits/matrix';
import { MemoryStore } from '#tests/support/limits/memory-store';
import { retryAlone } from '#tests/support/limits/retries';
import type { Simulation } from '#tests/support/limits/simulation';
import { type Stores, startStores, storeKinds } from '#tests/support/limits/stores';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seeds: { type: 'string', default: '3' },
    retries: { type: 'string', default: '10000' },
    stores: { type: 'string', default: 'memory,Redis,Upstash,PostgreSQL' },
  },
});
const chosen = values.stores.split(',');
let failed = false;

function say(line: string, good: boolean): void {
  failed ||= !good;
  process.stdout.write(`${good ? ' ' : '!'} ${line}\n`);
}

/** A store with the clock of a simulation, which starts at a different time in each run. */
function opener(kind: string, stores: Stores): (simulation: Simulation) => LimitStore {
  const startMs = 1_800_000_000_000 + Math.floor(Math.random() * 1e10);
  return (simulation) => {
    const clock = () => startMs + simulation.nowMs;
    const real = storeKinds.find((one) => one === kind);
    return real ? stores.open(real, clock) : new MemoryStore(clock);
  };
}

/** Every case: the most calls in any minute, and the share of what one process would have admitted. */
async function matrix(kind: string, stores: Stores): Promise<void> {
  let worst = 1;
  let calls = 0;
  for (const one of cases) {
    for (let seed = 1; seed <= Number(values.seeds); seed++) {
      const snapshot = snapshotOf({ limits: { rpm: one.limit } });
      const options = { minutes: Number(values.minutes), seed, roundTripMs: 2 };
      const seen = await runCase(one, snapshot, opener(kind, stores), options);
      const share = seen.admitted / seen.allowed;
      const rounds = seen.asks / one.processes / (seen.minutes + 2) / 60;
      calls += seen.calls;
      worst = Math.min(worst, share);
      say(
        `${kind} ${one.processes} × ${one.limit}/min × ${one.load} ${one.arrivals} seed ${seed}: ${seen.calls} calls, ${seen.admitted} of ${seen.allowed} admitted (${(share * 100).toFixed(1)}%), most in 60 s ${seen.most}, ${rounds.toFixed(2)} permit requests per second and process`,
        seen.most <= one.limit &&
          (share >= 0.95 || seen.allowed - seen.admitted <= 1) &&
          seen.lost.length === 0,
      );
    }
  }
  say(`${kind}: ${calls} calls in total, at least ${(worst * 100).toFixed(1)}% of the allowed ones`, true);
}

/** Single retries after Retry-After. */
async function retry(kind: string, stores: Stores): Promise<void> {
  let retries = 0;
  let admitted = 0;
  let over = Number.NEGATIVE_INFINITY;
  for (let seed = 1; retries < Number(values.retries); seed++) {
    const seen = await retryAlone(500, opener(kind, stores), { seed });
    retries += seen.retries;
    admitted += seen.admitted;
    over = Math.max(over, seen.overRequests);
  }
  say(`${kind}: ${admitted} of ${retries} single retries admitted`, admitted === retries && over <= 0);
}

const stopDatabase = await prepareDatabase();
const stores = await startStores();
for (const kind of chosen) await matrix(kind, stores);
for (const kind of chosen) await retry(kind, stores);
await stores.close();
await stopDatabase();
process.exit(failed ? 1 : 0);
