import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from '#tests/support/command';
import { Client, type Told } from '#tests/support/fleet/client';
import { processTree, signal, survivors } from '#tests/support/fleet/process-tree';
import { freePort } from '#tests/support/run/free-port';
import { inherited } from '#tests/support/run/inherited';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { root } from '#tests/support/stack';

let dataDir: string;
let server: ChildProcess;
let client: Client;
let key = '';
let command: CommandLine;

interface Health {
  readonly processes: readonly { readonly journalBacklog: number }[];
}

beforeAll(async () => {
  dataDir = await embeddedDirectory('migrated');
  const port = await freePort();
  client = new Client(`http://127.0.0.1:${port}`);
  server = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...inherited(),
      NODE_ENV: 'production',
      DATA_DIR: dataDir,
      PORT: String(port),
      LOG_LEVEL: 'fatal',
      CONSOLE: 'off',
    },
  });
  let said = '';
  for await (const piece of server.stdout ?? []) {
    said += piece;
    if (said.includes('Then look it up')) break;
  }
  key = /API key\s+(mg_\w+)/.exec(said)?.[1] ?? '';
  command = commandLine(null, { DATA_DIR: dataDir });
  await command.json('workspace', 'set', 'demo', '--rpm', 'none', '--tpm', 'none', '--concurrency', 'none');
});
afterAll(async () => {
  client.close();
  command.close();
  const tree = processTree(server.pid ?? 0);
  server.kill('SIGTERM');
  while (survivors(tree).length > 0) await pause(50);
  rmSync(dataDir, { recursive: true, force: true });
});

async function kill(program: string): Promise<void> {
  const find = () => processTree(server.pid ?? 0).filter((one) => one.command.includes(program));
  let found = find();
  await expect
    .poll(() => {
      found = find();
      return found.length;
    })
    .toBe(1);
  signal(found[0]?.pid, 'SIGKILL');
}

/** Eight clients that call one after the other until told to stop. @returns what they were told. */
function load() {
  let going = true;
  const told: Told[] = [];
  const clients = Array.from({ length: 8 }, async () => {
    while (going) {
      told.push(await client.call(key, { stream: true, directive: 'pace/2/5' }));
      await pause(5);
    }
  });
  const whole = () => told.filter((one) => one.status === 200 && one.whole);
  return {
    whole,
    stop: async () => {
      going = false;
      await Promise.all(clients);
    },
  };
}

/** Between two kills of the database, however fast the machine is. */
const answersBetween = 12;
const served = () => client.call(key).then((told) => told.status);

describe('a process that the gateway started (contract: durability/embedded-database)', {
  timeout: 240_000,
}, () => {
  it('is started again when it is the simulated provider that was killed, also twice', async () => {
    for (let round = 0; round < 2; round += 1) {
      expect((await client.ask(key)).status).toBe(200);
      const headed = Promise.withResolvers<void>();
      const cut = client.call(key, { stream: true, directive: 'pace/100/1000' }, headed.resolve);
      await headed.promise;
      await kill('sandbox-main');
      expect((await cut).text).not.toContain('[DONE]');
      await expect.poll(served, { interval: 100 }).toBe(200);
    }
  });

  it('is started again when it is the database that was killed under load, and nothing is lost', async () => {
    const running = load();
    for (let round = 0; round < 3; round += 1) {
      const before = running.whole().length;
      while (running.whole().length < before + answersBetween) await pause(20);
      await kill('embedded-child');
    }
    await expect.poll(served, { interval: 100 }).toBe(200);
    await running.stop();
    const whole = running.whole();
    await expect
      .poll(async () => (await command.json<Health>('health')).processes[0]?.journalBacklog)
      .toBe(0);
    expect(await command.json('ledger', 'verify')).toMatchObject({ ok: true });
    for (const { id } of [whole.at(0), whole.at(-1)].flatMap((one) => one ?? [])) {
      expect(await command.json('call', 'show', id)).toMatchObject({ endReason: 'completed' });
    }
    const { rows } = await command.json<{ rows: { calls: number }[] }>(
      ...['usage', '--workspace', 'demo', '--by', 'model'],
      ...[
        '--from',
        new Date(Date.now() - 864e5).toISOString(),
        '--to',
        new Date(Date.now() + 864e5).toISOString(),
      ],
    );
    const known = rows.reduce((sum, row) => sum + row.calls, 0);
    expect(known).toBeGreaterThanOrEqual(whole.length);
    expect(server.exitCode).toBe(null);
  });
});
