import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { openDb } from '#lib/platform/data/db';
import { nginxIsHere, startNginx } from '#tests/fleet/roll-out/nginx';
import { mountSmallDisk } from '#tests/gateway/process/small-disk';
import { expectBalancedBooks } from '#tests/support/books';
import { copyDatabase } from '#tests/support/database';
import { readBooked } from '#tests/support/fleet/accounts';
import { Client, codeOf, type Told, type Wish } from '#tests/support/fleet/client';
import { startLoad } from '#tests/support/fleet/load';
import { type Second, startSecond } from '#tests/support/fleet/second';
import { startRedis } from '#tests/support/redis/server';
import { freePort } from '#tests/support/run/free-port';
import { type OwnStack, startStack } from '#tests/support/stack';
import { type TcpProxy, tcpProxy } from '#tests/support/tcp-proxy';

/** How long the soak lasts, s. The table is made when asked for: `npm run fleet -- --minutes 1 --table figures`. */
const soakS = Number(process.env.FLEET_SOAK_S ?? 900);
const wide = { rpm: 10_000_000, tpm: null, concurrency: null, credit: '1000000' };
const faketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

/** Three processes behind nginx, on one PostgreSQL and one Redis, each store behind a proxy. */
interface Cluster {
  readonly stack: OwnStack;
  readonly processes: Second[];
  readonly redisProxy: TcpProxy;
  readonly begin: (at: number, env?: Readonly<Record<string, string>>) => Promise<Second>;
}

/** What happens, and what is called meanwhile: [wish, calls a second]. */
interface Row {
  readonly name: string;
  readonly load: readonly (readonly [Wish, number])[];
  readonly env?: Readonly<Record<string, string>>;
  /** DATA_DIR of the first process; the others get one of their own. */
  readonly dataDir?: () => string;
  readonly happens: (cluster: Cluster) => Promise<void>;
}

const slow: Wish = { stream: true, directive: 'pace/100/50' };
const away = async (proxy: TcpProxy, how: 'cut' | 'freeze', seconds: number, restS: number) => {
  await pause(3_000);
  proxy[how]();
  await pause(seconds * 1000);
  proxy.restore();
  await pause(restS * 1000);
};
const postgres = (
  name: string,
  how: 'cut' | 'freeze',
  seconds: number,
  perSecond: number,
  env = {},
): Row => ({
  name: `PostgreSQL ${how === 'cut' ? 'cut off' : 'without an answer'} for ${seconds} s${name}`,
  load: [[{}, perSecond]],
  env,
  happens: ({ stack }) => away(stack.databaseProxy, how, seconds, 20),
});
const clock = (offset: string): Row => ({
  name: `Clock of one of three off by ${offset}`,
  load: [[{}, 5]],
  happens: async (cluster) => {
    const { processes, begin } = cluster;
    await processes[0]?.close();
    processes[0] = await begin(0, {
      LD_PRELOAD: faketime,
      FAKETIME: offset,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    });
    await pause(5_000);
  },
});

let disk: ReturnType<typeof mountSmallDisk> | null = null;
afterAll(() => disk?.close());

const rows: readonly Row[] = [
  {
    name: 'kill -9 of one of three, started again after 3 s',
    load: [[{}, 100]],
    happens: async ({ processes, begin }) => {
      await pause(5_000);
      const [one] = processes;
      if (!one) return;
      const ended = once(one.process, 'exit');
      one.process.kill('SIGKILL');
      await ended;
      await pause(3_000);
      processes[0] = await begin(0, { DATA_DIR: one.dataDir });
      await pause(12_000);
    },
  },
  {
    name: 'Redis cut off for 12 s',
    load: [[{}, 60]],
    happens: ({ redisProxy }) => away(redisProxy, 'cut', 12, 12),
  },
  {
    name: 'Redis without an answer for 15 s',
    load: [[{}, 60]],
    happens: ({ redisProxy }) => away(redisProxy, 'freeze', 15, 12),
  },
  postgres('', 'cut', 30, 60),
  postgres('', 'freeze', 30, 30),
  postgres('', 'cut', 180, 30),
  postgres(', DATABASE_AWAY_MINUTES=10', 'cut', 180, 30, {
    DATABASE_AWAY_MINUTES: '10',
    DATABASE_AWAY_USD: '1000',
  }),
  {
    name: 'Disk of one of three full for 15 s (24 MiB)',
    load: [
      [{}, 60],
      [slow, 4],
    ],
    dataDir: () => {
      disk = mountSmallDisk(24);
      return join(disk.path, 'data');
    },
    happens: async () => {
      await pause(5_000);
      disk?.fill();
      await pause(15_000);
      disk?.free();
      await pause(20_000);
    },
  },
  {
    name: 'SIGTERM, SIGINT and SIGTERM to the three with 50 streams of 5 s running at each',
    load: [],
    happens: async ({ processes }) => {
      await Promise.all(
        processes.map(async ({ process: child }, at) => {
          const ended = once(child, 'exit');
          child.kill(at === 1 ? 'SIGINT' : 'SIGTERM');
          expect(await ended).toEqual([0, null]);
        }),
      );
    },
  },
  {
    name: 'Three processes replaced in order',
    load: [
      [{}, 60],
      [slow, 10],
    ],
    env: { SHUTDOWN_DELAY_SECONDS: '5' },
    happens: async ({ processes, begin }) => {
      for (let at = 0; at < 3; at += 1) {
        await processes[at]?.close();
        processes[at] = await begin(at);
      }
      await pause(6_000);
    },
  },
  ...(existsSync(faketime) ? ['+2h', '-2h', '+3d', '-40d', '+400d'].map(clock) : []),
  {
    name: 'One of three with 160 open files, 150 streams a second for 3 s',
    load: [],
    happens: async ({ processes }) => {
      const pid = processes[0]?.process.pid;
      execFileSync('prlimit', [`--pid=${pid}`, '--nofile=160']);
    },
  },
  {
    name: `Soak of ${soakS} s`,
    load: [
      [{}, 80],
      [{ stream: true, directive: 'pace/100/10' }, 60],
      [slow, 20],
    ],
    happens: () => pause(soakS * 1000),
  },
];

const table: string[] = [];
afterAll(() => {
  const head = [
    'Fault',
    'sent',
    'ok',
    'not ok at the client',
    'rows',
    'lost',
    'free',
    'charged twice',
    'verify',
  ];
  process.stdout.write(
    `| ${head.join(' | ')} |\n|${head.map(() => '---').join('|')}|\n${table.join('\n')}\n`,
  );
});

/** @param row what was seen; the books are verified before it is told. */
async function tell(name: string, stack: OwnStack, told: readonly Told[]): Promise<void> {
  const answered = told.filter((one) => one.status === 200 && one.whole);
  const failed = new Map<string, number>();
  for (const one of told.filter((one) => !answered.includes(one))) {
    const what = one.status === 200 ? 'cut' : `${one.status} ${one.whole ? codeOf(one) : ''}`.trim();
    failed.set(what, (failed.get(what) ?? 0) + 1);
  }
  const lost = async () => {
    const booked = await readBooked(stack);
    return answered.filter(({ mark }) => !booked.has(mark)).length;
  };
  await expect.poll(lost, { timeout: 120_000, interval: 500 }).toBe(0);
  await expectBalancedBooks(stack);
  const booked = await readBooked(stack);
  const rowsOf = told.map(({ mark }) => booked.get(mark) ?? []);
  const free = answered.filter(({ mark }) => booked.get(mark)?.[0]?.costNano === 0n).length;
  const twice = rowsOf.filter((of) => of.length > 1).length;
  const notOk = [...failed].map(([what, count]) => `${count} × ${what}`).join(', ') || '0';
  const cells = [name, told.length, answered.length, notOk, rowsOf.flat().length, 0, free, twice, 'ok'];
  table.push(`| ${cells.join(' | ')} |`);
  process.stdout.write(`${table.at(-1)}\n`);
  expect({ free, twice }).toEqual({ free: 0, twice: 0 });
}

const asked = process.env.FLEET_TABLE !== undefined && nginxIsHere;
const named = (name: string) => !process.env.FLEET_TABLE || new RegExp(process.env.FLEET_TABLE).test(name);

it.skipIf(!asked).each(rows.filter(({ name }) => named(name)))(
  '$name: no answered call is lost, free or charged twice (contract: durability/last-byte)',
  async ({ name, load, env = {}, dataDir, happens }) => {
    const redis = await startRedis();
    const redisProxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(redis.url).port) });
    const stack = await startStack({ env: { REDIS_URL: `redis://127.0.0.1:${redisProxy.port}`, ...env } });
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const begin: Cluster['begin'] = (at, more = {}) =>
      startSecond(stack, { port: ports[at] ?? 0, env: { ...env, ...more } });
    const first = dataDir?.();
    const processes = await Promise.all(
      [0, 1, 2].map((at) => begin(at, at === 0 && first ? { DATA_DIR: first } : {})),
    );
    const nginx = await startNginx(ports);
    const client = new Client(nginx.url);
    const { slug } = await stack.workspace(wide);
    const { key } = await stack.key(slug, { dailyCap: '500000' });
    const told: Told[] = [];
    const keep = (one: Told): Told => {
      told.push({ ...one, text: one.status === 200 ? '' : one.text });
      return one;
    };
    // Each process knows the key before anything happens.
    for (let at = 0; at < 12; at += 1) keep(await client.ask(key));
    const random = (below: number) => Math.floor(Math.random() * below);
    const loads = load.map(([wish, perSecond]) =>
      startLoad([client], [key], [wish], perSecond, random, keep, 2_000),
    );
    const atOnce = name.includes('50 streams') ? 150 : name.includes('open files') ? 450 : 0;
    const running: Promise<Told>[] = [];
    const add = (headed = () => {}) => running.push(client.call(key, slow, headed).then(keep));
    if (name.includes('50 streams')) {
      const heads = Array.from({ length: atOnce }, () => new Promise<void>((resolve) => add(resolve)));
      await Promise.all(heads);
    }
    await happens({ stack, processes, redisProxy, begin });
    if (name.includes('open files')) {
      for (let at = 0; at < atOnce; at += 1) {
        add();
        await pause(6);
      }
    }
    await Promise.all([...running, ...loads.map((one) => one.stop())]);
    await tell(name, stack, told);
    client.close();
    await nginx.close();
    for (const one of processes) await one.close();
    await stack.close();
    await redis.close();
    disk?.close();
    disk = null;
  },
  3_600_000,
);

it.skipIf(!asked || !named('restored'))(
  'a database copied under load and restored after kill -9 of all: the journals bring what it lacks (contract: durability/recovery)',
  async () => {
    const stack = await startStack({ direct: true });
    const folders = [0, 1, 2].map(() => mkdtempSync(join(tmpdir(), 'gateway-figures-')));
    const processes = await Promise.all(folders.map((DATA_DIR) => startSecond(stack, { env: { DATA_DIR } })));
    const clients = processes.map(({ url }) => new Client(url));
    const { slug } = await stack.workspace(wide);
    const { key } = await stack.key(slug);
    for (const client of clients) await client.ask(key);
    const random = (below: number) => Math.floor(Math.random() * below);
    const load = startLoad(clients, [key], [{}, { stream: true }], 44, random);
    await pause(5_000);
    // PostgreSQL copies no database that is in use.
    const { pathname } = new URL(stack.databaseUrl);
    const admin = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
    await admin.connect();
    const allow = (word: string) =>
      admin.query(`ALTER DATABASE ${pathname.slice(1)} ALLOW_CONNECTIONS ${word}`);
    await allow('false');
    const copy = await copyDatabase(stack.databaseUrl);
    await allow('true');
    await admin.query(`ALTER DATABASE ${new URL(copy.url).pathname.slice(1)} ALLOW_CONNECTIONS true`);
    await admin.end();
    await pause(8_000);
    for (const { process: child } of processes) child.kill('SIGKILL');
    const told = await load.stop();
    await stack.kill('SIGKILL');
    const restored = await startStack({ env: { DATABASE_URL: copy.url, DATA_DIR: stack.dataDir } });
    const again = await Promise.all(
      folders.map((DATA_DIR) => startSecond(restored, { env: { DATA_DIR, DATABASE_URL: copy.url } })),
    );
    const db = openDb(copy.url);
    const name = 'Database copied under load, kill -9 of all three 8 s later, restored, old journals';
    await tell(name, { ...stack, db }, told);
    await db.close();
    for (const one of again) await one.close();
    for (const client of clients) client.close();
    await restored.close();
    await stack.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  },
  3_600_000,
);
