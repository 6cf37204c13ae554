import { DatabaseSync } from 'node:sqlite';

/** A lock on a file that the kernel frees when its process dies, however it dies. */
export interface FileLock {
  release(): void;
}

/** Garbage collection closes a database that nothing refers to, and its lock would go with it. */
const held = new Set<DatabaseSync>();

/**
 * Takes an exclusive lock on `path` (made when missing) without waiting.
 * SQLite's own file lock is used because Node has no `flock`, and a pid file survives its process.
 * @returns null while another process holds it; a lock that is never released is held until this process ends.
 * @throws when the file cannot be made or read.
 */
export function takeLock(path: string): FileLock | null {
  const database = new DatabaseSync(path);
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  held.add(database);
  return {
    release() {
      held.delete(database);
      database.close();
    },
  };
}

const sqliteBusy = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
}
