import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Permission bits of group and others. */
const others = 0o077;

/**
 * Removes the permissions of group and others from a file, or a directory with its contents. Symbolic links are not
 * followed; entries that disappear in the meantime are skipped.
 * @throws Error of the file system: EPERM if it belongs to another user.
 */
export function makePrivate(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || found.isSymbolicLink()) return;
  if ((found.mode & others) !== 0) unlessGone(() => chmodSync(path, found.mode & 0o700));
  if (!found.isDirectory()) return;
  const names = unlessGone(() => readdirSync(path)) ?? [];
  for (const name of names) makePrivate(join(path, name));
}

function unlessGone<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
