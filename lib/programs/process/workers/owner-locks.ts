import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DataDirInUse } from '#lib/platform/data/embedded';
import { type FileLock, takeLock } from '#lib/platform/data/lock';

const lockName = /^([0-9a-f-]{36})\.worker$/;
const longestWaitMs = 10_000;
const lookMs = 50;

const folderOf = (dataDir: string) => join(dataDir, 'run');
const pathOf = (dataDir: string, ownerId: string) => join(folderOf(dataDir), `${ownerId}.worker`);

/**
 * Locks the journal of a worker: it belongs to no other process until the kernel frees the lock.
 * @throws Error if another process has it, or of the file system.
 */
export function holdOwner(dataDir: string, ownerId: string): FileLock {
  mkdirSync(folderOf(dataDir), { recursive: true, mode: 0o700 });
  const lock = takeLock(pathOf(dataDir, ownerId));
  if (lock === null) throw new Error(`the journal of ${ownerId} belongs to another process`);
  return lock;
}

/**
 * Waits until the workers of a killed primary have ended, which they do as soon as they notice: a worker that still
 * runs would write to a journal that is treated as a dead process's (contract: durability/workers).
 * @throws DataDirInUse after 10 s.
 */
export async function awaitEarlierWorkers(dataDir: string): Promise<void> {
  const untilMs = performance.now() + longestWaitMs;
  for (const ownerId of listOwners(dataDir)) {
    while (!forgetOwner(dataDir, ownerId)) {
      if (performance.now() > untilMs) throw new DataDirInUse(dataDir, null);
      await pause(lookMs);
    }
  }
}

/** Removes the lock of a worker that has ended. @returns false while it lives. */
export function forgetOwner(dataDir: string, ownerId: string): boolean {
  const path = pathOf(dataDir, ownerId);
  const lock = takeLock(path);
  if (lock === null) return false;
  rmSync(path, { force: true });
  rmSync(`${path}-journal`, { force: true });
  lock.release();
  return true;
}

function listOwners(dataDir: string): string[] {
  try {
    return readdirSync(folderOf(dataDir)).flatMap((name) => lockName.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}
