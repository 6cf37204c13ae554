import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from '#tests/support/command';
import { eventually } from '#tests/support/eventually';
import { checkpointsIn } from '#tests/support/fleet/checkpoints';
import { Client, codeOf, type Wish } from '#tests/support/fleet/client';
import { processTree, residentMib, signal, survivors } from '#tests/support/fleet/process-tree';
import { freePort } from '#tests/support/run/free-port';
import { inherited } from '#tests/support/run/inherited';
import { root } from '#tests/support/stack';

/** Two seconds of a stream. */
const long: Wish = { stream: true, directive: 'pace/20/100' };
/** One that is killed before its minutes are over. */
const endless: Wish = { stream: true, directive: 'pace/100/2000' };
const run = promisify(execFile);

let dataDir: string;
let port: number;
let client: Client;
let command: CommandLine;
let key = '';
/** What runs now, from one test to the next. */
let running: ChildProcess | null = null;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gateway-start-'));
  port = await freePort();
  client = new Client(`http://127.0.0.1:${port}`);
  command = commandLine(null, { DATA_DIR: dataDir, PORT: String(port) });
});
afterAll(async () => {
  const tree = processTree(running?.pid ?? 0);
  running?.kill('SIGTERM');
  await eventually(() => survivors(tree), []);
  client.close();
  command.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const environment = () => ({
  ...inherited(),
  NODE_ENV: 'production' as const,
  DATA_DIR: dataDir,
  PORT: String(port),
});

/** A server that is expected to refuse its start. @returns what it says. */
async function refusedStart(settings: { PORT: string }): Promise<string> {
  const server = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 240_000,
    env: { ...environment(), LOG_LEVEL: 'error', ...settings },
  });
  const [said] = await Promise.all([text(server.stderr), once(server, 'exit')]);
  expect(server.exitCode).toBe(1);
  return said;
}

/** `npm start` on the embedded database, in a process group of its own as a terminal would give it; unless it runs. */
async function npmStart(): Promise<ChildProcess> {
  if (running && running.exitCode === null && running.signalCode === null) return running;
  const npm = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(),
  });
  running = npm;
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const read = (piece: Buffer) => {
      said += piece.toString();
      if (said.includes('Model Gateway is ready') && said.endsWith('\n\n')) resolve();
    };
    npm.stdout?.on('data', read);
    npm.stderr?.on('data', read);
    npm.once('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${said}`)));
  });
  key = /API key\s+(mg_\w+)/.exec(said)?.[1] ?? key;
  return npm;
}

/** A top-up at the stand-in. */
interface Paid {
  readonly id: string;
  readonly url: string;
  readonly test: boolean;
}

/** A command as people start it, by the program. */
async function program(...argv: string[]) {
  const { stdout } = await run(join(root, 'bin/gateway'), [...argv, '--json'], { env: environment() });
  return JSON.parse(stdout);
}

function partOf(tree: ReturnType<typeof processTree>, program: string) {
  const found = tree.filter((one) => one.command.includes(program));
  expect(found.map((one) => one.command)).toHaveLength(1);
  return found[0] ?? { pid: 0 };
}

async function startStream(wish: Wish) {
  const headed = Promise.withResolvers<void>();
  const told = client.ask(key, wish, headed.resolve);
  await headed.promise;
  return { told };
}

describe('npm start on the embedded database (contract: operations/start)', { timeout: 400_000 }, () => {
  it('says that its port is taken, and shows the key at the start that succeeds', async () => {
    const listener = createServer().listen(port, '127.0.0.1');
    await once(listener, 'listening');
    expect(await refusedStart({ PORT: String(port) })).toBe(
      `PORT: ${port} is already in use on 127.0.0.1. Stop the program that uses it, or set another PORT.\n`,
    );
    listener.close();
    await npmStart();
    expect((await client.ask(key)).status).toBe(200);
  });

  it('takes at most 650 MiB in all of its processes (docs/decisions/memory-at-rest.md)', async () => {
    const tree = processTree((await npmStart()).pid ?? 0);
    expect(tree.length).toBeGreaterThanOrEqual(5);
    expect(residentMib(tree)).toBeLessThan(650);
  });

  it('refuses a second server on its DATA_DIR, obeys the command line', async () => {
    const npm = await npmStart();
    const server = partOf(processTree(npm.pid ?? 0), 'dist/server.js');
    const said = await refusedStart({ PORT: String(await freePort()) });
    expect(said).toContain(`in use by the server with process id ${server.pid}. Stop it`);

    const { id } = await program('key', 'create', '--workspace', 'demo', '--name', 'other').then(
      (made: { id: string; key: string }) => {
        key = made.key;
        return made;
      },
    );
    expect((await client.ask(key)).status).toBe(200);
    await command.json('key', 'disable', id);
    // At once, unless the machine is so busy that the command waits for it in vain; then within a second.
    const outcome = async () => {
      const told = await client.ask(key);
      return `${told.status} ${codeOf(told)}`;
    };
    await eventually(outcome, '403 apikey_inactive');
    await command.json('key', 'enable', id);
    await eventually(outcome, '200 ');
  });

  it('tops up with play money at its stand-in for Stripe, and says so (contract: money/play-money)', async () => {
    await npmStart();
    const { id, url, test } = await command.json<Paid>('top-up', 'create', 'demo', '20');
    expect(test).toBe(true);
    expect(await (await fetch(url)).text()).toContain('no card is charged');
    await fetch(url, { method: 'POST', body: new URLSearchParams({ how: 'pay' }), redirect: 'manual' });
    const paid = () => command.json('top-up', 'show', '--workspace', 'demo', id);
    await eventually(async () => (await paid()).status, 'paid');
    const { data } = await command.json<{ data: { kind: string }[] }>(
      'ledger',
      'list',
      '--workspace',
      'demo',
    );
    const line = {
      kind: 'top_up',
      amount: '20',
      simulated: '20',
      reason: 'Test payment: no real money moved',
    };
    expect(data.filter(({ kind }) => kind === 'top_up')).toMatchObject([line]);
    expect(await command.json('billing', 'reconcile')).toMatchObject({ drift: '0', credited: 0 });
  });

  it('ends as a whole when its server is killed, and the next start settles what was open', async () => {
    const npm = await npmStart();
    const tree = processTree(npm.pid ?? 0);
    const before = checkpointsIn(dataDir);
    const { told } = await startStream(endless);
    // From the first checkpoint on the call's state is known.
    await expect.poll(() => checkpointsIn(dataDir)).toBeGreaterThan(before);
    const exited = once(npm, 'exit');
    signal(partOf(tree, 'dist/server.js').pid, 'SIGKILL');
    const cut = await told;
    expect(cut.whole).toBe(false);
    await exited;
    await expect.poll(() => survivors(tree)).toEqual([]);
    await npmStart();
    const call = await command.json('call', 'show', cut.id);
    expect(call).toMatchObject({ endReason: 'interrupted', status: 200 });
    expect(await command.json('ledger', 'verify')).toMatchObject({ ok: true });
    expect((await client.ask(key)).status).toBe(200);
  });

  it('ends at Ctrl-C with every process that it started, after the running answers', async () => {
    const npm = await npmStart();
    const tree = processTree(npm.pid ?? 0);
    for (const program of ['dist/server.js', 'embedded-child', 'sandbox-main']) partOf(tree, program);
    const { told } = await startStream(long);
    const exited = once(npm, 'exit');
    if (!npm.pid) throw new Error('npm did not start');
    process.kill(-npm.pid, 'SIGINT');
    const answer = await told;
    expect(answer).toMatchObject({ status: 200, whole: true });
    await exited;
    await expect.poll(() => survivors(tree)).toEqual([]);
    expect(await command.json('call', 'show', answer.id)).toMatchObject({
      endReason: 'completed',
      status: 200,
    });
  });
});
