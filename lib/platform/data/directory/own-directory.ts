import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FileLock, takeLock } from '#lib/platform/data/lock';

/** A directory for the files of one process alone. */
export interface OwnDirectory {
  readonly path: string;
  /** Deletes it with everything in it. */
  remove(): void;
}

/** Of the locks that tell whether a directory's process lives. */
const suffix = '.lock';

/**
 * Makes a directory in `folder` that no other process touches, and deletes those whose processes are dead. A lock that
 * the kernel frees with its process tells the two apart: process ids are no proof, because those of containers that
 * share a folder repeat.
 * @param folder made when missing.
 * @throws Error of the file system.
 */
export function takeOwnDirectory(folder: string): OwnDirectory {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = randomBytes(12).toString('hex');
  const path = join(folder, name);
  // One at a time: a lock that another process has made but not taken yet would look like that of a dead one.
  const door = waitFor(join(folder, 'door'));
  try {
    removeDead(folder);
    const lock = takeLock(path + suffix);
    if (!lock) throw new Error(`${path}${suffix} cannot be locked: try again`);
    mkdirSync(path, { mode: 0o700 });
    return {
      path,
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

/** @throws Error when somebody else has it for longer than any look around takes. */
function waitFor(path: string): FileLock {
  for (let waitedMs = 0; waitedMs < longestWaitMs; waitedMs += stepMs) {
    const lock = takeLock(path);
    if (lock) return lock;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stepMs);
  }
  throw new Error(`${path} is locked by another process: end that, then start again`);
}

/** Whatever stands in the folder and belongs to no living process. */
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

/** Its name goes while the lock is held: who comes after makes a file of its own. */
function removeLock(path: string, lock: FileLock): void {
  rmSync(path, { force: true });
  rmSync(`${path}-journal`, { force: true });
  lock.release();
}
