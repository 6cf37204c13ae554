import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDb } from '#lib/platform/data/db';
import { embeddedUrl } from '#lib/platform/data/embedded-directory';
import { createFilledDatabase } from '#tests/support/database';
import { catalogueEnv } from '#tests/support/provider/catalogue';
import { startSandboxProcess } from '#tests/support/provider/process';
import { freePort } from '#tests/support/run/free-port';
import { inherited } from '#tests/support/run/inherited';
import { rest } from '#tests/support/run/rest';
import { attach, type Stack, secrets } from '#tests/support/shared/attach';
import { fillCatalogue } from '#tests/support/shared/fill-catalogue';
import { type TcpProxy, tcpProxy } from '#tests/support/tcp-proxy';

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** Ends a program together with the process that started it. */
export const tether = new URL('../../scripts/tether.mjs', import.meta.url).href;

export { type Stack, secrets } from '#tests/support/shared/attach';

export interface StackOptions {
  /** Which lane serves /v1*; the web lane needs a production build. */
  readonly lane?: 'node' | 'web';
  /** `embedded`: the database that the gateway starts itself, without a proxy. Default: a server's. */
  readonly database?: 'server' | 'embedded';
  /**
   * Whether it serves pages; the web lane always does. Loading Next takes half a second of processor time.
   */
  readonly console?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** DATA_DIR; default: a new directory. */
  readonly dataDir?: string;
  /** Largest file that the gateway may write, KiB: the next write fails as on a full disk. */
  readonly fileKiB?: number;
  /** The file in which the provider keeps every line of its log. */
  readonly providerLog?: string;
  /** Whether the gateway connects to its database without a proxy, because no test cuts the connections. */
  readonly direct?: boolean;
  /** Called for each connection of the gateway to its database; gets what the gateway sends there. */
  readonly watchDatabase?: () => (bytes: Buffer) => void;
}

/** The test's own stack, which it may kill, cut off and start again. */
export interface OwnStack extends Stack {
  /** The proxy between the gateway and its database. */
  readonly databaseProxy: TcpProxy;
  /** The environment of the gateway process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The running gateway process; a new one after `restart`. */
  gateway(): ChildProcess;
  log(): string;
  kill(signal: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
}

/**
 * Boots a database, the simulated provider and a gateway, each a real process with real sockets: for tests
 * that kill one of them or need their own settings. Other tests share one: see `joinStack`.
 */
export async function startStack(options: StackOptions = {}): Promise<OwnStack> {
  if (options.lane === 'web' && !existsSync(join(root, '.next/BUILD_ID'))) {
    throw new Error('The web lane needs the production build: run npm test, or npm start once.');
  }
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const embedded = options.database === 'embedded';
  const [database, sandbox] = await Promise.all([
    embedded ? { url: embeddedUrl(dataDir), drop: async () => {} } : createFilledDatabase(),
    startSandboxProcess(options.providerLog),
  ]);
  const db = openDb(database.url, { onError: () => {} });
  const databaseUrl = new URL(database.url);
  const databaseProxy = await tcpProxy(
    { host: databaseUrl.hostname, port: Number(databaseUrl.port) },
    options.watchDatabase,
  );
  if (!options.direct) databaseUrl.port = String(databaseProxy.port);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let gateway: ChildProcess | null = null;
  let log = '';
  const environment = {
    ...inherited(),
    ...secrets,
    ...catalogueEnv,
    NODE_ENV: 'production' as const,
    ...(embedded ? {} : { DATABASE_URL: databaseUrl.href }),
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    PORT: String(port),
    LANE: options.lane ?? 'node',
    CONSOLE: options.console || options.lane === 'web' ? 'on' : 'off',
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
    LOG_LEVEL: 'error',
    ...options.env,
  };
  const start = async () => {
    const program = [process.execPath, '--import', tether, join(root, 'dist/server.js')];
    const limited = ['bash', '-c', `ulimit -f ${options.fileKiB}; exec "$0" "$@"`, ...program];
    const [command = '', ...args] = options.fileKiB === undefined ? program : limited;
    const child = spawn(command, args, {
      cwd: root,
      // It stops if the tests are killed.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...environment, MODEL_GATEWAY_TETHER: String(process.pid) },
    });
    child.stderr?.on('data', (text) => {
      log += text;
    });
    gateway = child;
    await ready(url, child, () => log);
  };
  await start();
  if (embedded) await fillCatalogue(db);
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
  const attached = attach({ url, databaseUrl: database.url, dataDir, db, sandbox }, () => {
    return gateway?.exitCode === null && gateway.signalCode === null;
  });
  return {
    ...attached,
    shared: false,
    databaseProxy,
    environment,
    gateway: running,
    log: () => log,
    kill,
    start,
    close: async () => {
      databaseProxy.restore();
      // The embedded database ends with the gateway.
      if (embedded) await db.close();
      await kill('SIGTERM');
      await sandbox.close();
      await databaseProxy.close();
      if (!embedded) await db.close();
      await database.drop();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Waits until a gateway answers 200 on /api/health. @param log for the error if the gateway ends instead. */
export async function ready(url: string, child: ChildProcess, log: () => string): Promise<void> {
  const startMs = performance.now();
  while (performance.now() < startMs + 180_000) {
    if (child.exitCode !== null || child.signalCode !== null) {
      const how = child.signalCode ?? `exit ${child.exitCode}`;
      throw new Error(`the gateway ended at its start (${how}):\n${log()}`);
    }
    // Otherwise it would be kept, and a stop with a delay waits for open connections.
    const answered = await fetch(`${url}/api/health`, { headers: { connection: 'close' } }).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    await rest(startMs);
  }
  throw new Error(`the gateway was not ready within 3 minutes:\n${log()}`);
}
