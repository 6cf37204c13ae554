import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DataDirInUse } from '#lib/platform/data/embedded';
import {
  findHolder,
  isAlive,
  removeHolder,
  runDirectory,
  writeHolder,
} from '#lib/platform/data/embedded-directory';
import { takeLock } from '#lib/platform/data/lock';
import { makeDataDirectory } from '#lib/platform/files/data-directory';

const longestWaitMs = 10_000;

/**
 * Locks `dataDir` for a server whose database is elsewhere: a second server must not treat its journal as a dead
 * process's (contract: durability/one-server). The kernel frees the lock when the process dies, however it dies.
 * @returns what gives it back.
 * @throws DataDirInUse: at once if a server runs, otherwise after 10 s.
 */
export async function holdDirectory(dataDir: string): Promise<() => void> {
  makeDataDirectory(dataDir);
  const real = realpathSync(dataDir);
  const deadlineMs = performance.now() + longestWaitMs;
  for (;;) {
    const lock = takeLock(join(real, 'lock.db'));
    if (lock) {
      runDirectory(real);
      writeHolder(real, { pid: process.pid, role: 'server', childPid: process.pid });
      return () => {
        removeHolder(real);
        lock.release();
      };
    }
    const holder = findHolder(real);
    const rival = holder?.role === 'server' && isAlive(holder.pid);
    if (rival || performance.now() > deadlineMs) throw new DataDirInUse(dataDir, holder);
    await pause(100);
  }
}
