import { existsSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { buffersFor } from '#lib/platform/data/embedded/buffers';
import { keepPrivate, rememberMissing } from '#lib/platform/data/embedded/files';
import { listen } from '#lib/platform/data/embedded/socket';
import { type Engine, Turns } from '#lib/platform/data/embedded/turns';
import {
  findHolder,
  type Holder,
  type Role,
  removeHolder,
  socketPath,
  writeHolder,
} from '#lib/platform/data/embedded-directory';
import { type FileLock, takeLock } from '#lib/platform/data/lock';
import { makePrivate } from '#lib/platform/files/private-files';

// The process that owns DATA_DIR/db: `node embedded-child.ts <data dir> <role> <pid of the asker>`.
// Two processes in one PGlite directory silently lose data, hence the lock; the owner is a
// child, so that a blocked or killed gateway neither stalls nor damages the database.

/** Messages of the child to its parent, one JSON line each on file descriptor 3. */
export type Report = { state: 'waiting'; holder: Holder | null } | { state: 'ready' };

const idleInTransactionMs = 15_000;

// Only its user can access what this process creates, including socket and lock.
process.umask(0o077);

const [dataDir = '', role = 'server', asker = '0'] = process.argv.slice(2);
const stopped = Promise.withResolvers<void>();

// Ctrl-C reaches the whole process group: the gateway still needs its database to stop in order.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The parent's end, even by SIGKILL, closes this pipe.
process.stdin
  .on('error', () => stopped.resolve())
  .on('close', () => stopped.resolve())
  .resume();

const report = (message: Report) => {
  try {
    writeSync(3, `${JSON.stringify(message)}\n`);
  } catch {
    stopped.resolve();
  }
};

async function lock(): Promise<FileLock> {
  for (;;) {
    const held = takeLock(join(dataDir, 'lock.db'));
    if (held) return held;
    report({ state: 'waiting', holder: findHolder(dataDir) });
    if (await Promise.race([pause(100, false), stopped.promise.then(() => true)])) process.exit(0);
  }
}

/** A new database is created next to its final place and then moved, so that a kill leaves nothing half-made. */
async function open(): Promise<PGlite> {
  const place = join(dataDir, 'db');
  if (!existsSync(place)) {
    const draft = join(dataDir, 'db.new');
    rmSync(draft, { recursive: true, force: true });
    await (await PGlite.create(draft)).close();
    renameSync(draft, place);
  }
  const database = await PGlite.create(place, {
    startParams: [...PGlite.defaultStartParams, '-c', `shared_buffers=${buffersFor(place)}`],
  });
  keepPrivate(database.Module.FS);
  rememberMissing(database.Module.FS);
  // What it has unpacked, or made until now.
  makePrivate(place);
  return database;
}

const roleOf = (text: string): Role => (text === 'command' ? 'command' : 'server');

const engineOf = (database: PGlite): Engine => ({
  run: (message, onData) =>
    database.runExclusive(() => database.execProtocolRawStream(message, { onRawData: onData })),
  inTransaction: () => database.isInTransaction(),
});

/** PGlite's file system does not throw an Error but an object with its own number. */
const numbered: Readonly<Record<number, string>> = {
  2: 'this user cannot read or write its files',
  51: 'its disk is full',
  69: 'its disk is read-only',
};

function fail(error: unknown): never {
  const number = typeof error === 'object' && error !== null && 'errno' in error ? Number(error.errno) : 0;
  console.error('The embedded database stopped:', numbered[number] ?? error);
  process.exit(1);
}

const held = await lock();
writeHolder(dataDir, { pid: Number(asker), role: roleOf(role), childPid: process.pid });
const path = socketPath(dataDir);
rmSync(path, { force: true });
const database = await open().catch(fail);
const server: Server = await listen(path, new Turns(engineOf(database), idleInTransactionMs, fail));
report({ state: 'ready' });

await stopped.promise;
server.close();
await database.close();
rmSync(path, { force: true });
removeHolder(dataDir);
held.release();
process.exit(0);
