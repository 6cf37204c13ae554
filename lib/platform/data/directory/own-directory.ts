import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FileLock, takeLock } from '#lib/platform/data/lock';

/** Suffix of the locks that show whether a directory's process is alive. */
const suffix = '.lock';

/**
 * Makes a directory in `folder` for this process only, and deletes those of dead processes. A lock that the kernel
 * frees with its process distinguishes the two: process ids cannot, because they repeat in containers that share a
 * folder.
 * @param folder created if missing.
 * @throws Error of the file system.
 */
export function takeOwnDirectory(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = randomBytes(12).toString('hex');
  const path = join(folder, name);
  // One at a time: a lock file that another process has made but not locked yet would look like a dead process's.
  const door = waitFor(join(folder, 'door'));
  try {
    removeDead(folder);
    const lock = takeLock(path + suffix);
    if (!lock) throw new Error(`${path}${suffix} cannot be locked: try again`);
    mkdirSync(path, { mode: 0o700 });
    return {
      path,
      /** Deletes it with everything in it. */
      remove() {
        rmSync(path, { recursive: true, force: true });
        removeLock(path + suffix, lock);
      },
    };
  } finally {
    door.release();
  }
}

const longestWaitMs = 10_000;
const stepMs = 20;

/** @throws Error if another process has it for longer than this should take. */
function waitFor(path: string): FileLock {
  for (let waitedMs = 0; waitedMs < longestWaitMs; waitedMs += stepMs) {
    const lock = takeLock(path);
    if (lock) return lock;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stepMs);
  }
  throw new Error(`${path} is locked by another process: end that, then start again`);
}

/** Deletes everything in the folder that belongs to no living process. */
function removeDead(folder: string): void {
  const living = new Set(['door']);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(suffix))) {
    const lock = takeLock(join(folder, file));
    if (lock) removeLock(join(folder, file), lock);
    else living.add(file.slice(0, -suffix.length));
  }
  for (const name of readdirSync(folder)) {
    const owner = name.replace(/(?:\.lock)?(?:-journal)?$/, '');
    if (!living.has(owner)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** The file is removed while the lock is held, so that the next process makes its own. */
function removeLock(path: string, lock: FileLock): void {
  rmSync(path, { force: true });
  rmSync(`${path}-journal`, { force: true });
  lock.release();
}
