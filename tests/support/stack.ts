import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { applyCatalogue } from '#lib/catalogue/apply';
import { readCatalogue } from '#lib/catalogue/files';
import { systemClock } from '#lib/clock';
import { type Db, openDb } from '#lib/data/db';
import { createIds } from '#lib/ids';
import { findCall } from '#lib/queries/calls';
import { announce } from '#lib/snapshot/announce';
import { createKey } from '#lib/verbs/key-create';
import { createWorkspace } from '#lib/verbs/workspace';
import { createDatabase } from '#tests/support/database';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Test secrets: they protect nothing. */
export const secrets = {
  NEXTAUTH_SECRET: 'a'.repeat(64),
  ENCRYPTION_KEY: 'b'.repeat(64),
  KEY_PEPPER: 'c'.repeat(64),
};

export interface StackOptions {
  /** Which lane serves /v1*; the web lane needs a production build. */
  readonly lane?: 'node' | 'web';
  readonly env?: Readonly<Record<string, string>>;
  /** Catalogue file or folder; the simulated provider's by default. */
  readonly catalogue?: string;
}

/** A database, the simulated provider and a gateway, each a real process with real sockets. */
export interface Stack {
  readonly url: string;
  readonly db: Db;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly sandboxUrl: string;
  /** The running gateway process; a new one after `restart`. */
  gateway(): ChildProcess;
  /** Makes a workspace of its own; settings as the verb takes them. */
  workspace(settings?: Partial<Parameters<typeof createWorkspace>[2]>): Promise<{ id: string; slug: string }>;
  key(
    workspace: string,
    settings?: Partial<Parameters<typeof createKey>[2]>,
  ): Promise<{ id: string; key: string }>;
  /** Tells the gateway that something was changed, as the command line does. */
  announce(): Promise<unknown>;
  /** The call's row, as soon as it is in the log. */
  call(id: string): Promise<NonNullable<Awaited<ReturnType<typeof findCall>>>>;
  /** Everything that the simulated provider saw. */
  truth(): Promise<Record<string, unknown>[]>;
  kill(signal: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  if (options.lane === 'web' && !existsSync(join(root, '.next/BUILD_ID'))) {
    throw new Error('The web lane needs the production build: run npm test, or npm start once.');
  }
  const database = await createDatabase();
  const db = openDb(database.url, { onError: () => {} });
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const sandboxKey = 'sandbox-test-key';
  const sandbox = spawn(
    process.execPath,
    [join(root, 'lib/sandbox/main.ts'), '--tied', '--key', sandboxKey],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const { url: sandboxUrl, origin } = JSON.parse(await firstLine(sandbox));
  const ids = createIds(systemClock);
  await applyCatalogue(db, await readCatalogue(join(root, options.catalogue ?? 'catalogue/sandbox.yaml')), {
    sealingKey: null,
    newId: () => ids.newId() ?? '',
  });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let gateway: ChildProcess | null = null;
  const start = async () => {
    const child = spawn(process.execPath, [join(root, 'server.ts')], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ...secrets,
        NODE_ENV: 'production',
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        HOST: '127.0.0.1',
        PORT: String(port),
        LANE: options.lane ?? 'node',
        SANDBOX_URL: sandboxUrl,
        SANDBOX_KEY: sandboxKey,
        LOG_LEVEL: 'error',
        ...options.env,
      },
    });
    gateway = child;
    await ready(url, child);
  };
  await start();
  const running = () => {
    if (!gateway) throw new Error('the gateway is not running');
    return gateway;
  };
  const kill = async (signal: NodeJS.Signals) => {
    const child = running();
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  let made = 0;
  return {
    url,
    db,
    databaseUrl: database.url,
    dataDir,
    sandboxUrl,
    gateway: running,
    workspace: async (settings = {}) => {
      made += 1;
      const created = await createWorkspace(db, 'test', { name: `Test ${made}`, credit: '100', ...settings });
      await announce(dataDir);
      return created;
    },
    key: async (workspace, settings = {}) => {
      const created = await createKey(
        db,
        'test',
        { workspace, name: 'test', ...settings },
        secrets.KEY_PEPPER,
      );
      await announce(dataDir);
      return created;
    },
    announce: () => announce(dataDir),
    call: async (id) => {
      for (let tries = 0; tries < 200; tries += 1) {
        const found = await findCall(db, { workspaceId: null, id });
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`call ${id} did not reach the log within 10 s`);
    },
    truth: async () => {
      const text = await (await fetch(`${origin}/_log`)).text();
      return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
    },
    kill,
    start,
    close: async () => {
      await kill('SIGTERM');
      sandbox.stdin.end();
      if (sandbox.exitCode === null) await once(sandbox, 'exit');
      await db.close();
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (child.exitCode !== null) throw new Error(`the gateway ended at its start (exit ${child.exitCode})`);
    const answered = await fetch(`${url}/api/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the gateway was not ready within 60 s');
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
    if (child.stdout) createInterface(child.stdout).once('line', resolve);
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
