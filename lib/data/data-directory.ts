import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** DATA_DIR cannot be made or written; the message says why and what to do. */
export class DataDirUnusable extends Error {
  constructor(dataDir: string, cause: NodeJS.ErrnoException) {
    super(`DATA_DIR: ${dataDir} ${remedyOf(cause)}`);
    this.name = 'DataDirUnusable';
  }
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'may not be written by this user: give it to this user, or set another DATA_DIR.',
  EPERM: 'may not be written by this user: give it to this user, or set another DATA_DIR.',
  EROFS: 'is read-only: mount it writable, or set another DATA_DIR.',
  ENOSPC: 'is on a disk that is full: free some of it, or set another DATA_DIR.',
  EDQUOT: "is where this user's quota is used up: free some of it, or set another DATA_DIR.",
  ENOTDIR: 'is no directory: set another DATA_DIR.',
  EEXIST: 'is no directory: set another DATA_DIR.',
  ENAMETOOLONG: 'is too long a path: set another DATA_DIR.',
};

function remedyOf(cause: NodeJS.ErrnoException): string {
  return remedies[cause.code ?? ''] ?? `cannot be used (${cause.message}): set another DATA_DIR.`;
}

const probe = Buffer.alloc(4096, 1);

/**
 * Makes `dataDir` (0700) where it is missing and writes a page there: what refuses that would refuse the
 * journal or the database later, in the middle of something.
 * @throws DataDirUnusable.
 */
export function makeDataDirectory(dataDir: string): void {
  const file = join(dataDir, `.probe-${process.pid}`);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const descriptor = openSync(file, 'w', 0o600);
    try {
      writeSync(descriptor, probe);
    } finally {
      closeSync(descriptor);
      rmSync(file, { force: true });
    }
  } catch (error) {
    throw error instanceof Error ? new DataDirUnusable(dataDir, error) : error;
  }
}
