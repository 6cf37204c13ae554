import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { publish } from '#lib/platform/data/change';
import { openDb } from '#lib/platform/data/db';
import prepareDatabase, { createFilledDatabase } from '#tests/support/database';
import { secrets } from '#tests/support/shared/attach';
import { insertKey, insertWorkspace } from '#tests/support/shared/rows';
import type { FromHost, HostCount, HostPlan, ToHost } from './messages.ts';
import { type Row, report } from './report.ts';
import { type Servers, startServers } from './servers.ts';

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '10,30,100' },
    /** Calls a second of each process. */
    rates: { type: 'string', default: '0,5,10' },
    limits: { type: 'string', default: 'redis' },
    workspaces: { type: 'string', default: '20' },
    keys: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    /** How long a fleet runs before it is measured, s of its time: leases, permits and windows are then in use. */
    settles: { type: 'string', default: '8' },
    /** How fast the fleet's time runs; by default slower for larger fleets, so that two cores are enough. */
    speed: { type: 'string', default: '' },
    /** Changes of keys a second, by the console or the API. */
    changes: { type: 'string', default: '0.2' },
    hosts: { type: 'string', default: '4' },
  },
});
const numbers = (text: string) => text.split(',').map(Number);
const seconds = Number(values.seconds);
const speedOf = (processes: number) => Number(values.speed) || Math.min(1, Math.max(0.2, 20 / processes));
const say = (text: string) => process.stderr.write(`${text}\n`);

class Host {
  readonly #child: ChildProcess;

  constructor(originMs: number, speed: number) {
    this.#child = fork(new URL('./host.ts', import.meta.url), [String(speed), String(originMs)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
  }

  tell(message: ToHost): void {
    this.#child.send(message);
  }

  async hear<Kind extends FromHost['kind']>(kind: Kind): Promise<Extract<FromHost, { kind: Kind }>> {
    const [message]: FromHost[] = await Promise.race([
      once(this.#child, 'message') as Promise<FromHost[]>,
      once(this.#child, 'exit').then(([code]) => {
        throw new Error(`a host of the fleet has ended with code ${code}`);
      }),
    ]);
    if (message?.kind !== kind) throw new Error(`a host said ${message?.kind} instead of ${kind}`);
    return message as Extract<FromHost, { kind: Kind }>;
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.tell({ kind: 'stop' });
    await Promise.race([gone, pause(60_000, undefined, { ref: false })]);
    this.#child.kill('SIGKILL');
  }
}

async function makeKeys(url: string): Promise<{ secrets: string[][]; ids: string[] }> {
  const db = openDb(url);
  const made = { secrets: [] as string[][], ids: [] as string[] };
  for (let at = 0; at < Number(values.workspaces); at++) {
    const limits = { rpm: 1_000_000, tpm: 2_000_000_000, concurrency: 100_000 };
    const { id } = await insertWorkspace(db, { credit: '1000000', ...limits });
    const keys = await Promise.all(
      Array.from({ length: Number(values.keys) }, () =>
        insertKey(db, id, { rpm: 500_000, concurrency: 50_000 }, secrets.KEY_PEPPER),
      ),
    );
    made.secrets.push(keys.map(({ key }) => key));
    made.ids.push(...keys.map((key) => key.id));
  }
  await db.close();
  return made;
}

async function measure(servers: Servers, processes: number, rate: number, limits: string): Promise<Row> {
  const speed = speedOf(processes);
  /** Real time for a time of the fleet, s. */
  const passes = (fleetSeconds: number) => pause((fleetSeconds * 1000) / speed);
  const database = await createFilledDatabase();
  const made = await makeKeys(database.url);
  const watched = await servers.watch(database.url);
  const count = Math.min(processes, Number(values.hosts));
  const originMs = Date.now();
  const hosts = Array.from({ length: count }, () => new Host(originMs, speed));
  const db = openDb(database.url, { max: 1 });
  try {
    for (const [at, host] of hosts.entries()) {
      const plan: HostPlan = {
        processes: Math.floor((processes + at) / count),
        databaseUrl: database.url,
        redisUrl: limits === 'redis' ? servers.redisUrl : null,
        rate,
        workspaces: made.secrets,
      };
      host.tell({ kind: 'start', plan });
    }
    await Promise.all(hosts.map((host) => host.hear('ready')));
    for (const host of hosts) host.tell({ kind: 'load' });
    const changes = setInterval(
      () => {
        const subject = made.ids[Math.floor(Math.random() * made.ids.length)] ?? '';
        publish(db.pool, [{ kind: 'key', subject }]).catch((error) => say(`! ${error}`));
      },
      1000 / speed / Number(values.changes),
    );
    // The database's time is the real one: where the fleet's is slower, heartbeats come late.
    const alive = setInterval(() => {
      db.pool
        .query(
          "UPDATE owner SET expires_at = now() + interval '1 hour' WHERE expires_at < now() + interval '30 s'",
        )
        .catch((error) => say(`! ${error}`));
    }, 5_000);
    await passes(Number(values.settles));
    const countAll = () =>
      Promise.all(
        hosts.map((host) => {
          host.tell({ kind: 'count' });
          return host.hear('counted');
        }),
      );
    await watched.reset();
    const [stores, load, sinceMs] = [await watched.count(), await countAll(), performance.now()];
    let [connections, waiting, looks] = [0, 0, 0];
    for (let left = seconds; left > 0; left -= 1) {
      await passes(Math.min(left, 1));
      connections = Math.max(connections, await watched.connections());
      waiting += await watched.waiting();
      looks += 1;
    }
    const [storesAfter, loadAfter] = [await watched.count(), await countAll()];
    const took = ((performance.now() - sinceMs) / 1000) * speed;
    const purposes = await watched.purposes();
    clearInterval(changes);
    clearInterval(alive);
    const perSecond = <Name extends string>(before: Record<Name, number>, after: Record<Name, number>) =>
      Object.fromEntries(
        Object.keys(before).map((name) => [name, (after[name as Name] - before[name as Name]) / took]),
      ) as Record<Name, number>;
    for (const { errors } of loadAfter) for (const one of errors) say(`! ${one}`);
    return {
      processes,
      rate,
      limits,
      connections,
      waiting: waiting / looks,
      purposes: new Map(
        [...purposes].map(([name, { statements, rows, walBytes, ms }]) => [
          name,
          { statements: statements / took, rows: rows / took, walBytes: walBytes / took, ms: ms / took },
        ]),
      ),
      ...perSecond(stores, storesAfter),
      ...perSecond(sumOf(load), sumOf(loadAfter)),
      backlog: sumOf(loadAfter).backlog,
    };
  } finally {
    await Promise.all(hosts.map((host) => host.stop()));
    await db.close();
    await watched.close();
    await database.drop();
  }
}

function sumOf(counts: readonly HostCount[]) {
  const sum = { calls: 0, refused: 0, waited: 0, waitedMs: 0, roundTrips: 0, backlog: 0, spentUs: 0 };
  for (const one of counts)
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += one[name];
  return sum;
}

const servers = await startServers();
process.env.TEST_DATABASE_URL = servers.url;
process.env.TEST_DATABASE_STRATEGY = 'STRATEGY file_copy';
const dropTemplates = await prepareDatabase();
const rows: Row[] = [];
try {
  for (const limits of values.limits.split(',')) {
    for (const processes of numbers(values.processes)) {
      for (const rate of numbers(values.rates)) {
        const row = await measure(servers, processes, rate, limits);
        rows.push(row);
        say(`${processes} processes, ${rate}/s each: ${JSON.stringify({ ...row, purposes: undefined })}`);
      }
    }
  }
} finally {
  await dropTemplates();
  await servers.stop();
}
const text = report(rows);
const about = `${values.workspaces} workspaces with ${values.keys} keys each, ${values.changes} changes a second, ${seconds} s measured`;
await writeFile(
  join(import.meta.dirname, '../results/stores.md'),
  `# A fleet and its stores, ${new Date().toISOString().slice(0, 10)}\n\n${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}. ${about}.\n\n${text}\n`,
);
process.stdout.write(`${text}\n`);
process.exit(0);
