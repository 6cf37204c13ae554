import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { nodeLane } from '#lib/gateway/flow/node-lane';
import type { Health } from '#lib/gateway/routing/health';
import { SocketServer } from '#lib/gateway/sockets/server';
import type { Clock } from '#lib/platform/clock';
import { type Db, openDb } from '#lib/platform/data/db';
import { readEnv } from '#lib/platform/env/env';
import { assemble } from '#lib/programs/process/assemble';
import { openJournalBooks } from '#lib/programs/process/books/journal-books';
import type { createKey, createWorkspace } from '#tests/support/control/operate';
import { createFilledDatabase } from '#tests/support/database';
import { type SandboxProcess, startSandboxProcess } from '#tests/support/provider/process';
import { secrets } from '#tests/support/shared/attach';
import { insertKey, insertWorkspace } from '#tests/support/shared/rows';

/** The whole gateway in this process, over real sockets and a real database, with a clock that tests move. */
export interface InProcess {
  readonly url: string;
  readonly db: Db;
  readonly sandbox: SandboxProcess;
  readonly health: Health;
  /** Tells the gateway that something was changed; waits until it knows. */
  announce(): Promise<unknown>;
  /** Moves the wall clock and the monotonic one ahead. */
  pass(seconds: number): void;
  /** From now on, only `pass` moves the clock. */
  stopClock(): void;
  /** ms since the epoch, as the gateway sees it. */
  now(): number;
  /** Creates a key, in a new workspace with $100 unless `settings.workspace` names one. */
  key(
    settings?: Partial<Parameters<typeof createKey>[1]>,
    workspace?: Partial<Parameters<typeof createWorkspace>[1]>,
  ): Promise<{ id: string; key: string; workspace: string }>;
  /** The amount that running calls hold in the leases of this gateway, nano-dollars. */
  heldNano(): bigint;
  /** Puts changes in the database into force. */
  pollNow(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param options `still`: only `pass` moves the clock, for tests of windows, which a busy machine must not delay;
 * `socketsOfKey`: WebSockets that one key may have.
 */
export async function startInProcess({ still = false, socketsOfKey = 1_000 } = {}): Promise<InProcess> {
  const [database, sandbox] = await Promise.all([createFilledDatabase(), startSandboxProcess()]);
  const db = openDb(database.url, { onError: () => {} });
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const env = readEnv({ ...secrets, DATABASE_URL: database.url, DATA_DIR: dataDir });
  const values = new Map([
    ['SANDBOX_URL', sandbox.url],
    ['SANDBOX_KEY', sandbox.key],
  ]);
  const upstreams = { envSecret: (name: string) => values.get(name) ?? null };
  let aheadMs = 0;
  let stopped = still ? moment() : null;
  const clock: Clock = {
    now: () => (stopped?.now ?? Date.now()) + aheadMs,
    mono: () => (stopped?.mono ?? performance.now()) + aheadMs,
  };
  const ground = { db, upstreams, worker: null, openBooks: openJournalBooks };
  // Limits are counted in memory: a store of limits would use its own clock.
  const running = await assemble(env, ground, pino({ level: 'silent' }), { clock, limitsInMemory: true });
  const server = createServer((request, response) => nodeLane(running.runtime, request, response));
  const sockets = new SocketServer(running.runtime, { mostOfKey: socketsOfKey });
  server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    db,
    sandbox,
    health: running.runtime.health,
    announce: () => running.pollNow(),
    pass: (seconds) => {
      aheadMs += seconds * 1000;
    },
    stopClock: () => {
      stopped = moment();
    },
    now: () => clock.now(),
    heldNano: () => running.state().leases.reduce((sum, { heldNano }) => sum + heldNano, 0n),
    pollNow: () => running.pollNow(),
    key: async (settings = {}, workspace = {}) => {
      const slug = settings.workspace ?? (await insertWorkspace(db, { credit: '100', ...workspace })).slug;
      const { workspace: _given, ...wanted } = settings;
      const created = await insertKey(db, slug, wanted, secrets.KEY_PEPPER);
      await running.pollNow();
      return { ...created, workspace: slug };
    },
    close: async () => {
      server.closeAllConnections();
      sockets.terminate();
      server.close();
      await running.stop();
      await sandbox.close();
      await db.close();
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** In whole milliseconds, so that sums are exact and a window's edge is hit exactly. */
function moment() {
  return { now: Date.now(), mono: Math.ceil(performance.now()) };
}
