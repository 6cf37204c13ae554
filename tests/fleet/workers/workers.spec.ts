import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { openDb } from '#lib/platform/data/db';
import { embeddedUrl } from '#lib/platform/data/embedded-directory';
import { expectBalancedBooks } from '#tests/support/books';
import { type CommandLine, commandLine } from '#tests/support/command';
import { eventually } from '#tests/support/eventually';
import { readLeft, readProvided, readSettled } from '#tests/support/fleet/accounts';
import { Client, type Told, type Wish } from '#tests/support/fleet/client';
import { judge } from '#tests/support/fleet/judge';
import { signal } from '#tests/support/fleet/process-tree';
import { callsASecondOf, faultsOf, tellFigures } from '#tests/support/fleet/round';
import { freePort } from '#tests/support/run/free-port';
import { inherited } from '#tests/support/run/inherited';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { type OwnStack, root, startStack } from '#tests/support/stack';

const kills = faultsOf(2);
const killsEmbedded = faultsOf(1);
const callsASecond = callsASecondOf(25, 60);
/** What is answered between two kills, however fast the machine is. */
const answeredBetween = 30;
const wide = { rpm: 1_000_000, tpm: null, concurrency: null };
const wishes: readonly Wish[] = [
  {},
  { directive: 'fault/slow-first-byte?ms=150' },
  { stream: true },
  { stream: true, directive: 'pace/15/50' },
  { directive: 'pace/10/40' },
];

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

interface Worker {
  readonly pid: number;
  readonly worker: number;
  readonly journalBacklog: number;
}

/** Those that answer; `health` fails while none does. */
async function workersOf(command: CommandLine): Promise<Worker[]> {
  const { out } = await command.run('health', '--json');
  return out === '' ? [] : JSON.parse(out).processes;
}

/** Calls at a steady pace while one worker after the other is killed. */
async function killUnderLoad(client: Client, keys: readonly string[], command: CommandLine, times: number) {
  const told: Promise<Told>[] = [];
  let answered = 0;
  const timer = setInterval(() => {
    const call = client.call(keys[told.length % keys.length] ?? '', wishes[told.length % wishes.length]);
    told.push(call);
    void call.then((one) => {
      if (one.status === 200 && one.whole) answered += 1;
    });
  }, 1000 / callsASecond);
  for (let kill = 0; kill < times; kill += 1) {
    const before = answered;
    while (answered < before + answeredBetween) await pause(20);
    // On a busy machine the command may find none for a moment.
    let living: Worker[] = [];
    await expect
      .poll(async () => {
        living = await workersOf(command);
        return living.length;
      })
      .toBe(2);
    signal(living[kill % 2]?.pid, 'SIGKILL');
    const cut = answered;
    // The other one goes on while the dead one's place is empty.
    while (answered < cut + answeredBetween / 2) await pause(20);
    await expect.poll(async () => (await workersOf(command)).length).toBe(2);
  }
  clearInterval(timer);
  return Promise.all(told);
}

describe('several processes behind one listener (contract: durability/workers)', { timeout: 600_000 }, () => {
  let stack: OwnStack;

  it(`go on, and charge every call once, when ${kills} of them are killed under load`, async () => {
    stack = await startStack({ env: { WORKERS: '2', METRICS_TOKEN: 'scrape' } });
    closing.push(() => stack.close());
    const command = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
    closing.push(async () => command.close());
    const { slug } = await stack.workspace(wide);
    const keys = [(await stack.key(slug)).key, (await stack.key(slug, { dailyCap: '50' })).key];
    const client = new Client(stack.url);
    await expect.poll(async () => (await workersOf(command)).map(({ worker }) => worker)).toEqual([1, 2]);
    const told = await killUnderLoad(client, keys, command, kills);
    await expectBalancedBooks(stack);
    const figures = judge(told, await readSettled(stack, told), await readProvided(stack));
    tellFigures('kills of workers', { kills, ...figures });
    expect(figures.answered).toBeGreaterThanOrEqual(kills * answeredBetween);
    await expect.poll(() => readLeft(stack)).toMatchObject({ holds: 0, owners: 2 });
    expect(await command.run('ledger', 'verify')).toMatchObject({ exit: 0 });
    client.close();
  });

  it('tell the metrics of all, whichever is asked', async () => {
    const scrape = async () => {
      const headers = { authorization: 'Bearer scrape', connection: 'close' };
      return (await fetch(`${stack.url}/api/metrics`, { headers })).text();
    };
    const told = async () =>
      (await scrape()).split('\n').filter((line) => /^(# TYPE gateway_ready |gateway_ready\{)/.test(line));
    const both = ['# TYPE gateway_ready gauge', 'gateway_ready{worker="1"} 1', 'gateway_ready{worker="2"} 1'];
    // Four in a row: a worker without the other's is found, one that was too busy to answer the other in time is not.
    await eventually(async () => {
      const four: string[][] = [];
      while (four.length < 4) four.push((await told()).sort());
      return four;
    }, Array(4).fill(both));
  });

  it('end in order on SIGTERM: no stream is cut, nothing is left', async () => {
    const { slug } = await stack.workspace(wide);
    const { key } = await stack.key(slug);
    const client = new Client(stack.url);
    const heads = Array.from({ length: 8 }, () => Promise.withResolvers<void>());
    const running = heads.map(({ resolve }) =>
      client.ask(key, { stream: true, directive: 'pace/20/100' }, resolve),
    );
    await Promise.all(heads.map(({ promise }) => promise));
    const exited = once(stack.gateway(), 'exit');
    stack.gateway().kill('SIGTERM');
    const told = await Promise.all(running);
    expect(told.filter((one) => one.whole && one.text.includes('data: [DONE]'))).toHaveLength(8);
    expect(await exited).toEqual([0, null]);
    expect(await readLeft(stack)).toEqual({ holds: 0, leases: 0, owners: 0 });
    client.close();
  });

  it('share the embedded database too', async () => {
    const dataDir = await embeddedDirectory('migrated');
    const port = await freePort();
    const env: NodeJS.ProcessEnv = {
      ...inherited(),
      NODE_ENV: 'production',
      DATA_DIR: dataDir,
      WORKERS: '2',
      LOG_LEVEL: 'fatal',
      CONSOLE: 'off',
      PORT: String(port),
    };
    const server = spawn(process.execPath, ['dist/server.js'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
      env,
    });
    const exited = once(server, 'exit');
    closing.push(async () => {
      server.kill('SIGTERM');
      await exited;
      rmSync(dataDir, { recursive: true, force: true });
    });
    let said = '';
    for await (const piece of server.stdout) {
      said += piece;
      if (said.includes('Then look it up')) break;
    }
    server.stdout.resume();
    const key = /API key\s+(mg_\w+)/.exec(said)?.[1] ?? '';
    const command = commandLine(null, { DATA_DIR: dataDir });
    const client = new Client(`http://127.0.0.1:${port}`);
    const none = ['--rpm', 'none', '--tpm', 'none', '--concurrency', 'none'];
    expect(await command.run('workspace', 'set', 'demo', ...none)).toMatchObject({ exit: 0 });
    const told = await killUnderLoad(client, [key], command, killsEmbedded);
    const whole = told.filter((one) => one.status === 200 && one.whole);
    await expect
      .poll(async () => (await workersOf(command)).map(({ journalBacklog }) => journalBacklog))
      .toEqual([0, 0]);
    const db = openDb(embeddedUrl(dataDir), { max: 1 });
    closing.push(() => db.close());
    const { rows } = await db.pool.query(
      'SELECT client_request_id AS mark, count(*)::int AS times FROM call GROUP BY 1',
    );
    const times = new Map(rows.map((row) => [row.mark, row.times]));
    expect(rows.filter((row) => row.times > 1)).toEqual([]);
    expect(whole.filter(({ mark }) => times.get(mark) !== 1)).toEqual([]);
    expect(await command.run('ledger', 'verify')).toMatchObject({ exit: 0 });
    const figures = { kills: killsEmbedded, calls: told.length, answered: whole.length };
    tellFigures('kills of workers, embedded database', figures);
    command.close();
    client.close();
  });
});
