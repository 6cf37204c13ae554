import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** Unix socket addresses end at 108 bytes (104 on macOS), the closing NUL included. */
const longestSocketPath = 103;
/** Room for the names of the sockets inside: ".s.PGSQL.5432", "<pid>.sock". */
const longestSocketName = 16;

/**
 * The directory (0700) for the sockets of the processes on one DATA_DIR: `DATA_DIR/run`, or, where that
 * path is too long for a socket, a directory of our own under /tmp that every process derives alike.
 * @throws Error if the directory under /tmp belongs to another user.
 */
export function runDirectory(dataDir: string): string {
  const run = join(dataDir, 'run');
  mkdirSync(run, { recursive: true, mode: 0o700 });
  const real = realpathSync(run);
  if (Buffer.byteLength(real) + 1 + longestSocketName <= longestSocketPath) return real;
  const short = `/tmp/model-gateway-${createHash('sha256').update(real).digest('hex').slice(0, 20)}`;
  mkdirSync(short, { recursive: true, mode: 0o700 });
  const found = lstatSync(short);
  const owned = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  if (!owned)
    throw new Error(
      `${short} is not a private directory of this user. Remove it, or set a shorter DATA_DIR.`,
    );
  return short;
}

export function socketPath(dataDir: string): string {
  return join(runDirectory(dataDir), '.s.PGSQL.5432');
}

/** The embedded database's address: a PostgreSQL URL like any other. */
export function embeddedUrl(dataDir: string): string {
  return `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(runDirectory(dataDir))}`;
}

export type Role = 'server' | 'command';

const holderSchema = z.object({
  /** The process that asked for the database. */
  pid: z.int().positive(),
  role: z.enum(['server', 'command']),
  /** The child of it that runs the database and has the lock. */
  childPid: z.int().positive(),
});

/** Who holds the embedded database. */
export type Holder = z.infer<typeof holderSchema>;

const holderFile = (dataDir: string) => join(dataDir, 'run', 'holder.json');

/** Written by the child once it has the lock; renamed into place, so that it is never read half-written. */
export function writeHolder(dataDir: string, holder: Holder): void {
  const draft = `${holderFile(dataDir)}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  renameSync(draft, holderFile(dataDir));
}

export function removeHolder(dataDir: string): void {
  rmSync(holderFile(dataDir), { force: true });
}

/** @returns null if there is none; the lock, not this file, says whether it is still valid. */
export function findHolder(dataDir: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(holderFile(dataDir), 'utf8')));
  } catch {
    return null;
  }
}

/** Whether a process of that id runs (one that we may not signal runs too). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
